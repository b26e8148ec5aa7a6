"""Writes tables as Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..tables.parts import in_parts
from ..tables.table import Entry, Table, mark
from ..words.text import printable

#: What opens markup inside a line: code, emphasis, strike-through, HTML, columns, formulas, links, entities, emoji.
INLINE = re.compile(r"[\\`*<|~$]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|&(?=#?\w+;)|:(?=[\w+-]+:)")
#: What opens a heading, a quotation, a list, an underline or a definition at the beginning of a line.
OPENING = re.compile(r"^(\d*)([#>+=\[-]|(?<=\d)[.)])")

#: Text that shows as it is: most of the numbers and names of a table.
PLAIN = re.compile(r"(?:[A-Za-z0-9.()+=/%×–-]+(?: [A-Za-z0-9.()+=/%×–-]+)*)?")


def escape(text: str) -> str:
    """Write ``text`` so that it shows as it is inside a line."""
    return text if PLAIN.fullmatch(text) else INLINE.sub(r"\\\g<0>", printable(text))


def escape_line(text: str) -> str:
    """Write ``text`` so that it shows as it is as a line of its own."""
    return OPENING.sub(r"\1\\\2", escape(text))


def superscript(marks: str) -> str:
    return f"<sup>{marks}</sup>" if marks else ""


def entry(value: Entry, marks: dict[str, str]) -> str:
    return escape(value.text) + superscript(mark(value, marks))


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Write rows under titles, with blanks that put the bars below each other in a plain editor."""
    columns = [[title, *column] for title, *column in zip(titles, *rows, strict=True)]
    # A title keeps a blank on either side beyond those of every entry.
    widths = [max(len(column[0]) + 2, *map(len, column[1:])) for column in columns]
    aligned = [
        [text.rjust(width) if to_right else text.ljust(width) for text in column]
        for column, width, to_right in zip(columns, widths, right, strict=True)
    ]
    rule = [
        f"{'-' * (width + 1)}:" if to_right else f":{'-' * (width + 1)}"
        for width, to_right in zip(widths, right, strict=True)
    ]
    heading, *lines = [f"| {' | '.join(line)} |" for line in zip(*aligned, strict=True)]
    return "\n".join([heading, f"|{'|'.join(rule)}|", *lines])


def render(table: Table, *, level: int = 2) -> str:
    """Write a table under a heading of ``level``; every group is a table of its own, so that its units can head it."""
    marks = table.marks
    above = [f"{'#' * level} {escape(table.title)}", *map(escape_line, filter(None, (table.banner, table.caption)))]
    below = [*map(escape_line, table.sentences)]
    notes = [f"{superscript(letter)} {escape(note)}" for note, letter in marks.items()]
    if notes:
        below.append("<br>\n".join(notes))
    below += [escape_line(remark) for remark in table.remarks]
    parts = [(heading, _part(heading, part, marks, level + 1)) for heading, part in in_parts(table)]
    # What is said of the whole table stands below the part that shows what matters most.
    first = [line for heading, lines in parts if not heading for line in lines]
    others = [line for heading, lines in parts if heading for line in lines]
    return "\n\n".join([*above, *first, *below, *others] if first else [*above, *others, *below]) + "\n"


def _part(heading: str, part: Table, marks: dict[str, str], level: int) -> list[str]:
    lines = [f"{'#' * level} {escape(heading)}"] if heading else []
    for group in part.groups:
        if group.heading.text:
            lines.append(f"{'#' * level} {entry(group.heading, marks)}")
        rows = [[entry(value, marks) for value in row] for row in group.rows]
        titles = [escape(title) for title in part.titles(group)]
        lines.append(grid(titles, rows, [column.align == "right" for column in part.columns]))
    return lines


def document(title: str, tables: Iterable[Table]) -> str:
    """Write tables as one page."""
    return "\n".join([f"# {escape(title)}\n", *(render(table) for table in tables)])
