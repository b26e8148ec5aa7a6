"""Divides a table too wide for a page: the column of each version that says most, then all, version by version."""

from __future__ import annotations

from dataclasses import replace

from ..words.text import EMPTY
from .table import Entry, Table, with_columns

#: Columns of numbers that a page has room for.
MOST = 10


def in_parts(table: Table) -> list[tuple[str, Table]]:
    """Return the parts of a table with their headings; a table that fits is its only part, without a heading."""
    numbers: dict[str, list[int]] = {}
    for i, column in enumerate(table.columns):
        if column.group:
            numbers.setdefault(column.group, []).append(i)
    if sum(map(len, numbers.values())) <= MOST or len(numbers) < 2:
        return [("", table)]
    names, parts = list(range(table.names)), list[tuple[str, Table]]()
    base: list[int] = []
    rank = [column.dispensable for column in table.columns]
    if any(rank):
        base = [i for i, column in enumerate(table.columns) if column.group and not rank[i]]
        best = sorted((min(own, key=rank.__getitem__) for own in numbers.values()), key=rank.__getitem__)
        parts.append(("", with_columns(table, sorted({*names, *base, *best[:MOST]}))))
    for group, own in numbers.items():
        others = [i for i in own if i not in base]
        if others:
            parts.append((group, _without_empty_rows(with_columns(table, [*names, *base, *others]), len(others))))
    return parts


def _without_empty_rows(table: Table, count: int) -> Table:
    """Leave out rows of which the last ``count`` columns show nothing."""

    def shows(row: tuple[Entry, ...]) -> bool:
        return any(entry.text not in ("", EMPTY) or entry.notes for entry in row[-count:])

    groups = (replace(group, rows=tuple(filter(shows, group.rows))) for group in table.groups)
    return replace(table, groups=tuple(group for group in groups if group.rows))
