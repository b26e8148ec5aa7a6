"""Writes tables as Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..tables.parts import MOST, in_parts
from ..tables.table import Entry, Table, mark
from ..words.language import _
from ..words.text import printable

#: What opens markup inside a line: code, emphasis, strike-through, HTML, columns, formulas, links, entities, emoji.
INLINE = re.compile(r"[\\`*<|~$]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|&(?=#?\w+;)|:(?=[\w+-]+:)")
#: What opens a heading, a quotation, a list, an underline or a definition at the beginning of a line.
OPENING = re.compile(r"^(\d*)([#>+=\[-]|(?<=\d)[.)])")

#: Bytes of a page, a little below the 512 KiB above which GitHub shows the source of a page in place of its tables.
LARGEST = 500_000

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


def grid(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], *, narrow: bool = False) -> str:
    """Write rows under titles; unless it is ``narrow``, with blanks that put the bars below each other in an editor."""
    if narrow:
        rule = ["-:" if to_right else ":-" for to_right in right]
        return "\n".join(f"|{'|'.join(line)}|" for line in (titles, rule, *rows))
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


def render(table: Table, *, narrow: bool = False) -> str:
    """Write a table under a heading of its own, in parts where a page has no room for all columns side by side.

    What it shows stands above it: a reader need not scroll past the rows to find it. ``narrow`` leaves out blanks.
    """
    above, below = (table.banner, table.caption, *table.sentences, *table.more), table.remarks
    whole, headed = list[str](), list[str]()
    for heading, part in in_parts(table):
        if heading:
            headed += [f"### {escape(heading)}", *_groups(part, 4, narrow=narrow)]
        else:
            whole += _groups(part, 3, narrow=narrow)
    title = f"## {escape(table.title)}"
    if whole and headed:
        below = (_("One column of each version, at most {count}; all columns follow.", count=MOST), *below)
    lines = [title, *map(escape_line, filter(None, above)), *whole, *map(escape_line, below), *headed]
    return "\n\n".join(lines) + "\n"


def _groups(table: Table, level: int, *, narrow: bool) -> Iterator[str]:
    """Write every group as a table of its own, so that its units can head it, with its footnotes below it."""
    for group in table.groups:
        marks = replace(table, groups=(group,)).marks
        if group.heading.text:
            yield f"{'#' * level} {entry(group.heading, marks)}"
        rows = [[entry(value, marks) for value in row] for row in group.rows]
        # A terminal breaks long names at their hyphens.
        titles = [escape(title.replace("-\n", "-")) for title in table.titles(group)]
        yield grid(titles, rows, [column.align == "right" for column in table.columns], narrow=narrow)
        notes = [f"{superscript(letter)} {escape(note)}" for note, letter in marks.items()]
        if notes:
            yield "<br>\n".join(notes)


def document(title: str, tables: Sequence[Table]) -> str:
    """Write tables as one page, which begins with links to them; a large page leaves out blanks that nobody sees."""
    heading, texts = f"# {escape(title)}\n", [render(table) for table in tables]
    if sum(len(text.encode()) for text in texts) > LARGEST:
        texts = [render(table, narrow=True) for table in tables]
    names = anchors([heading, *texts])[1:]
    links = [f"[{escape(table.title)}](#{name})" for table, name in zip(tables, names, strict=True)]
    return "\n".join([heading, *([f"{' · '.join(links)}\n"] if len(links) > 1 else []), *texts])


def anchors(texts: Sequence[str]) -> list[str]:
    """Return the name that GitHub gives the first heading of each text; those that others have before get a number."""
    seen, found = Counter[str](), list[str]()
    for text in texts:
        for number, heading in enumerate(re.findall(r"^#+ (.*)$", text, re.MULTILINE)):
            name = re.sub(r"<[^>]*>|[^\w -]", "", heading.lower()).replace(" ", "-")
            if not number:
                found.append(f"{name}-{seen[name]}" if seen[name] else name)
            seen[name] += 1
    return found
