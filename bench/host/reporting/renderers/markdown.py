"""Writes tables as Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tabulate import tabulate

from ..tables.table import Entry, Table, mark
from ..words.text import printable

#: What opens markup inside a line: code, emphasis, strike-through, HTML, columns, formulas, links, entities, emoji.
INLINE = re.compile(r"[\\`*<|~$]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|&(?=#?\w+;)|:(?=[\w+-]+:)")
#: What opens a heading, a quotation, a list, an underline or a definition at the beginning of a line.
OPENING = re.compile(r"^(\d*)([#>+=\[-]|(?<=\d)[.)])")


def escape(text: str) -> str:
    """Write ``text`` so that it shows as it is inside a line."""
    return INLINE.sub(r"\\\g<0>", printable(text))


def escape_line(text: str) -> str:
    """Write ``text`` so that it shows as it is as a line of its own."""
    return OPENING.sub(r"\1\\\2", escape(text))


def superscript(marks: str) -> str:
    return f"<sup>{marks}</sup>" if marks else ""


def entry(value: Entry, marks: dict[str, str]) -> str:
    return escape(value.text) + superscript(mark(value, marks))


def render(table: Table, *, level: int = 2) -> str:
    """Write a table under a heading of ``level``; every group is a table of its own, so that its units can head it."""
    marks = table.marks
    parts = [f"{'#' * level} {escape(table.title)}", escape_line(table.caption)]
    for group in table.groups:
        if group.heading.text:
            parts.append(f"{'#' * (level + 1)} {entry(group.heading, marks)}")
        rows = [[entry(value, marks) for value in row] for row in group.rows]
        parts.append(
            tabulate(
                rows,
                headers=[escape(title) for title in table.titles(group)],
                tablefmt="pipe",
                colalign=[column.align for column in table.columns],
                disable_numparse=True,
            )
        )
    notes = [f"{superscript(letter)} {escape(note)}" for note, letter in marks.items()]
    if notes:
        parts.append("<br>\n".join(notes))
    parts += [escape_line(remark) for remark in table.remarks]
    return "\n\n".join(parts) + "\n"


def document(title: str, tables: Iterable[Table]) -> str:
    """Write tables as one page."""
    return "\n".join([f"# {escape(title)}\n", *(render(table) for table in tables)])
