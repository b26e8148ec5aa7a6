"""Defines what a table holds, in whatever form it is written: columns, groups of rows, entries and footnotes."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..words.text import EMPTY, printable

#: Without q, which has no superscript letter in Unicode.
LETTERS = string.ascii_lowercase.replace("q", "")


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table, as plain text, with the footnotes that belong to it."""

    text: str
    notes: tuple[str, ...] = ()
    #: Whether it is a failure, which the terminal shows in red.
    alarm: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Column:
    title: str
    #: Words stand left, numbers right.
    align: str = "right"
    #: A narrow terminal leaves out the column with the highest number first, and one with 0 never.
    dispensable: int = 0
    #: Whether its entries may take several lines where the terminal is narrow.
    wraps: bool = False
    #: What a sentence calls it, where that is not its title.
    name: str = ""
    #: Heads it and the others of the same group where a page has no room for all columns side by side.
    group: str = ""

    @property
    def named(self) -> str:
        return printable(self.name or self.title)


@dataclass(frozen=True)
class Group:
    """Rows that belong together under a heading; ``units`` gives the unit of each column, empty where it has none."""

    heading: Entry
    units: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table with its caption; ``sentences`` say what it shows, ``remarks`` stand below it, both without a mark."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    remarks: tuple[str, ...] = ()
    #: What the table shows: they come first.
    sentences: tuple[str, ...] = ()
    #: More of it, for which a screen has no room.
    more: tuple[str, ...] = ()
    #: How many columns, from the left, name a row.
    names: int = 1
    #: Stands above the caption: why numbers are missing.
    banner: str = ""

    @property
    def rows(self) -> list[tuple[Entry, ...]]:
        """List the rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    @property
    def marks(self) -> dict[str, str]:
        """Give each footnote its mark, in the order of reading; the same text has one mark."""
        notes = dict.fromkeys(note for entry in self._entries() for note in entry.notes)
        return dict(zip(notes, letters(), strict=False))

    def _entries(self) -> Iterator[Entry]:
        for group in self.groups:
            yield group.heading
            for row in group.rows:
                yield from row

    def titles(self, group: Group) -> list[str]:
        """Return the columns' titles with the units of ``group``."""
        return [
            f"{column.title} ({unit})" if unit else column.title
            for column, unit in zip(self.columns, group.units, strict=True)
        ]


def ungrouped(rows: Iterable[tuple[Entry, ...]], columns: int) -> tuple[Group, ...]:
    """Put the rows under no heading; none of so many columns has a unit."""
    return (Group(Entry(""), ("",) * columns, tuple(rows)),)


def with_columns(table: Table, kept: Sequence[int]) -> Table:
    """Keep the columns with these numbers."""
    groups = tuple(
        Group(
            group.heading, tuple(group.units[i] for i in kept), tuple(tuple(row[i] for i in kept) for row in group.rows)
        )
        for group in table.groups
    )
    return replace(table, columns=tuple(table.columns[i] for i in kept), groups=groups)


def without_empty_columns(table: Table) -> Table:
    """Leave out the columns in which no row has anything to show; without rows all of them stay."""
    rows = table.rows
    if not rows:
        return table
    kept = [i for i in range(len(table.columns)) if any(row[i].text not in ("", EMPTY) or row[i].notes for row in rows)]
    return with_columns(table, kept)


def letters() -> Iterator[str]:
    """Count with letters: a, b, …, z, aa, ab, …"""
    for length in itertools.count(1):
        yield from map("".join, itertools.product(LETTERS, repeat=length))


def mark(entry: Entry, marks: dict[str, str]) -> str:
    """Return the marks of an entry's footnotes, in order: ``a,c``."""
    if not entry.notes:
        return ""
    # In alphabetical order within a length, as ``letters`` counts.
    return ",".join(sorted((marks[note] for note in set(entry.notes)), key=lambda one: (len(one), one)))


def remarks(*texts: str) -> tuple[str, ...]:
    """Keep the texts that are not empty."""
    return tuple(text for text in texts if text)
