"""Decides how a table of speed-ups fits into one column of a paper: whole, with broken names, or in parts.

Widths are estimated in em of the font, from the letters of Computer Modern. Times and Libertine, which IEEE, ACM and
SBC set, are narrower. The columns of those styles hold 31 em or more at the size of a footnote; the narrower column of
LaTeX's own article class holds 28.8 em at the size below.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

ROOM = 28.5
#: Between two columns of the table: twice ``\tabcolsep``.
GAP = 0.8
#: A mark hangs in this gap; behind a column with two signs in one place there is so much more.
SECOND_SIGN = 0.4
#: The shortest lines that names are broken into where a table is too wide, and by how much they are shortened at once.
NAME, STEP = 6.8, 1.0
#: What the second line of a broken name stands in from the left.
INDENT = 0.6
#: Lines that a column of a page has room for, at the size of a footnote and with a caption; and of a table's heading.
MOST_LINES, HEADING = 62, 5
#: Names keep at most so many letters.
LETTERS = 48
#: Of Computer Modern, in thousandths of an em: the letters that are as wide as the number.
WIDTHS = defaultdict(
    lambda: 0.9,
    {
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
    },
)


@dataclass(frozen=True)
class Shown:
    """What stands in one place: a number or a text, the signs that hang behind it, and whether it is bold."""

    text: str
    signs: tuple[str, ...] = ()
    bold: bool = False


def is_number(entry: Shown) -> bool:
    """Tell whether an entry is a number without a unit, which is aligned at its decimal sign."""
    return entry.text[:1].isdigit() and " " not in entry.text


def _wide(entry: Shown, text: str) -> float:
    """Estimate how wide a part of an entry is, in em."""
    # Bold letters are a seventh wider.
    return width(text) * (1.15 if entry.bold else 1.0)


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

    @cached_property
    def width(self) -> float:
        """How wide it is, in em."""
        entries = [_wide(entry, entry.text) for entry in self.entries]
        return max([width(self.mode), self._aligned_width, *entries]) + self.more_gap

    @property
    def more_gap(self) -> float:
        """How much wider the gap behind it is, in em."""
        return SECOND_SIGN if any(len(entry.signs) > 1 for entry in self.entries) else 0.0

    @property
    def _aligned_width(self) -> float:
        """How wide its numbers are below each other, aligned at the decimal sign."""
        # A decimal sign is as wide in every language.
        numbers = [(entry, entry.text.replace(",", ".").partition(".")) for entry in self.entries if is_number(entry)]
        whole = max((_wide(entry, parts[0]) for entry, parts in numbers), default=0.0)
        return whole + max((_wide(entry, "".join(parts[1:])) for entry, parts in numbers), default=0.0)


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
    return sum(map(WIDTHS.__getitem__, text))


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
    room = sum(column.width for column in columns) + GAP * (len(columns) - 1)
    return (whole,) if width(whole) <= room or not version else (product, version)


def table_width(table: PaperTable) -> float:
    """Estimate how wide a table is, in em."""
    # The last column leaves room for its mark.
    return _names_width(table) + _columns_width(table) + GAP


def _names_width(table: PaperTable) -> float:
    return max(
        (width(line) + (INDENT if i else 0.0) for name in table.names for i, line in enumerate(name)), default=0.0
    )


def _columns_width(table: PaperTable) -> float:
    columns = 0.0
    for heading in headings(table.columns):
        below = table.columns[heading.first : heading.first + heading.count]
        needed = sum(column.width for column in below) + GAP * (heading.count - 1)
        columns += GAP + max(needed, *map(width, heading.lines))
    return columns


def broken(name: str, most: float = NAME) -> tuple[str, ...]:
    """Break a name into lines of ``most`` em, behind hyphens and blanks where that is possible."""
    lines = [""]
    for piece in re.findall(r"[^-_/ ]*[-_/ ]?", name):
        for part in _short_parts(piece, most):
            if lines[-1] and width(lines[-1] + part.rstrip()) > most:
                lines.append("")
            lines[-1] += part
    return tuple(stripped for line in lines if (stripped := line.strip()))


def _short_parts(piece: str, most: float) -> list[str]:
    """Cut a piece without a hyphen that is too long by itself."""
    if width(piece) <= most:
        return [piece]
    parts = [""]
    for letter in piece:
        if width(parts[-1] + letter) > most:
            parts.append("")
        parts[-1] += letter
    return parts


def fit(table: PaperTable) -> list[PaperTable]:
    """Make a table fit: in as few parts as possible, with about as many columns each, whose names are broken least."""
    tried: list[tuple[PaperTable, float]] = []
    for count in range(1, len(table.columns) + 1):
        widest = max(map(_columns_width, _split(table, count)))
        # Names are broken once, not anew for every number of parts.
        tried = tried or [(named, _names_width(named)) for named in _less_and_less_wide(table)]
        for named, names in tried:
            if names + widest + GAP <= ROOM:
                return _split(named, count)
    return _split(tried[-1][0], len(table.columns))


def lines_of(parts: Sequence[PaperTable]) -> int:
    """Return how many lines the parts take below each other."""
    return sum(HEADING + sum(map(len, part.names)) for part in parts)


def halves(table: PaperTable) -> list[PaperTable]:
    """Divide the rows for two tables side by side, about as many lines in each; the means are in the second."""
    middle = math.ceil(len(table.names) / 2)
    return [_rows(table, 0, middle, 0), _rows(table, middle, len(table.names), table.means)]


def _rows(table: PaperTable, first: int, last: int, means: int) -> PaperTable:
    columns = tuple(replace(column, entries=column.entries[first:last]) for column in table.columns)
    return PaperTable(table.names[first:last], columns, means)


def _less_and_less_wide(table: PaperTable) -> Iterator[PaperTable]:
    """Yield the table with its names as they are, and then in ever shorter lines."""
    yield table
    longest = max((width(line) for name in table.names for line in name), default=0.0)
    for step in range(math.floor((longest - NAME) / STEP), -1, -1):
        most = NAME + step * STEP
        names = tuple(tuple(part for line in name for part in broken(line, most)) for name in table.names)
        yield PaperTable(names, table.columns, table.means)


def _split(table: PaperTable, count: int) -> list[PaperTable]:
    total = len(table.columns)
    ends = [round(total * number / count) for number in range(count + 1)]
    return [PaperTable(table.names, table.columns[first:last], table.means) for first, last in itertools.pairwise(ends)]
