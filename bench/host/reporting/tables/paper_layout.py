"""Decides how a table of speed-ups fits into one column of a paper: whole, with broken names, or in parts.

Widths are estimated in em of the font, from the letters of Computer Modern. Times and Libertine, which IEEE, ACM and
SBC set, are narrower. The columns of those styles hold 31 em or more at the size of a footnote; the narrower column of
LaTeX's own article class holds 28.8 em at the size below.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

ROOM = 28.5
#: Between two columns of the table: twice ``\tabcolsep``.
GAP = 0.6
#: A name longer than this is broken where a table is too wide; a part of a name is never longer.
NAME = 6.8
#: What the second line of a broken name stands in from the left.
INDENT = 0.6
#: Names keep at most so many letters.
LETTERS = 48
#: Of Computer Modern, in thousandths of an em: the letters that are as wide as the number.
WIDTHS = {
    letter: width / 1000
    for width, letters in {
        278: "il.,:;'!|",
        310: "fj",
        340: "- ",
        392: "rst()[]",
        444: "cez",
        500: 'ago0123456789/?*+<>=~^"`',
        528: "kqvxyIJ",
        556: "bdhnpuS$",
        640: "LFZ",
        722: "wBCETPR",
        780: "AHKNOQUVXYDG_&@µ–…",
        850: "m%#",
        1030: "MW",
    }.items()
    for letter in letters
}


@dataclass(frozen=True)
class Shown:
    """What stands in one place: a number or a text, and whether it is bold."""

    text: str
    mark: str = ""
    bold: bool = False


@dataclass(frozen=True)
class PaperColumn:
    #: Columns side by side with the same two are headed by them once.
    product: str
    version: str
    mode: str
    #: Hangs behind the mode, where settings may explain the numbers.
    mark: str
    #: One for each row.
    entries: tuple[Shown, ...]


@dataclass(frozen=True)
class PaperTable:
    """Rows and columns of one tabular; so many of the last rows hold means."""

    names: tuple[tuple[str, ...], ...]
    columns: tuple[PaperColumn, ...]
    means: int


@dataclass(frozen=True)
class Heading:
    """What stands above columns of the same framework and version."""

    lines: tuple[str, ...]
    first: int
    count: int


def width(text: str) -> float:
    """Estimate how wide a text is, in em."""
    return sum(WIDTHS.get(letter, 0.9) for letter in text)


def headings(columns: Sequence[PaperColumn]) -> list[Heading]:
    """Head neighbours of one framework and version together; above narrow columns the version has its own line."""
    found: list[Heading] = []
    for number, column in enumerate(columns):
        before = columns[number - 1] if number else None
        same = before is not None and (column.product, column.version) == (before.product, before.version)
        if same:
            found[-1] = Heading((), found[-1].first, found[-1].count + 1)
        else:
            found.append(Heading((), number, 1))
    return [Heading(_heading_lines(columns[one.first : one.first + one.count]), one.first, one.count) for one in found]


def _heading_lines(columns: Sequence[PaperColumn]) -> tuple[str, ...]:
    product, version = columns[0].product, columns[0].version
    whole = f"{product} {version}".strip()
    room = sum(map(_column_width, columns)) + GAP * (len(columns) - 1)
    return (whole,) if width(whole) <= room or not version else (product, version)


def _column_width(column: PaperColumn) -> float:
    # Bold letters are a seventh wider.
    entries = [width(entry.text) * (1.15 if entry.bold else 1.0) for entry in column.entries]
    return max([width(column.mode), *entries])


def table_width(table: PaperTable) -> float:
    """Estimate how wide a table is, in em."""
    names = max(
        (width(line) + (INDENT if i else 0.0) for name in table.names for i, line in enumerate(name)), default=0.0
    )
    columns = 0.0
    for heading in headings(table.columns):
        below = table.columns[heading.first : heading.first + heading.count]
        needed = sum(map(_column_width, below)) + GAP * (heading.count - 1)
        columns += GAP + max(needed, *map(width, heading.lines))
    # The last column leaves room for its mark.
    return names + columns + GAP


def broken(name: str) -> tuple[str, ...]:
    """Break a name into lines, behind hyphens and blanks where that is possible."""
    lines = [""]
    for piece in re.findall(r"[^-_/ ]*[-_/ ]?", name):
        for part in _short_parts(piece):
            if lines[-1] and width(lines[-1] + part.rstrip()) > NAME:
                lines.append("")
            lines[-1] += part
    return tuple(stripped for line in lines if (stripped := line.strip()))


def _short_parts(piece: str) -> list[str]:
    """Cut a piece without a hyphen that is too long by itself."""
    parts = [""]
    for letter in piece:
        if width(parts[-1] + letter) > NAME:
            parts.append("")
        parts[-1] += letter
    return parts


def fit(table: PaperTable) -> list[PaperTable]:
    """Make a table fit: unchanged, else with broken names, else in several parts with about as many columns each."""
    if table_width(table) <= ROOM:
        return [table]
    lines = tuple(tuple(part for line in name for part in broken(line)) for name in table.names)
    table = PaperTable(lines, table.columns, table.means)
    for count in range(1, len(table.columns) + 1):
        parts = _split(table, count)
        if all(table_width(part) <= ROOM for part in parts):
            return parts
    return _split(table, len(table.columns))


def _split(table: PaperTable, count: int) -> list[PaperTable]:
    total = len(table.columns)
    ends = [round(total * number / count) for number in range(count + 1)]
    return [PaperTable(table.names, table.columns[first:last], table.means) for first, last in itertools.pairwise(ends)]
