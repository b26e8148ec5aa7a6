"""Divides a table too wide for a page: the column of each version that says most, then all, version by version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

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
    for groups in _side_by_side(numbers):
        others = [i for group in groups for i in numbers[group] if i not in base]
        part = _without_empty_rows(with_columns(table, [*names, *base, *others]), len(others))
        if others and part.groups:
            parts.append((groups[0] if len(groups) == 1 else f"{groups[0]} – {groups[-1]}", part))
    return parts


def _side_by_side(numbers: Mapping[str, list[int]]) -> list[list[str]]:
    """Put groups that follow each other into one part as long as there is room."""
    found: list[list[str]] = []
    width = 0
    for group, own in numbers.items():
        if found and width + len(own) <= MOST:
            found[-1].append(group)
            width += len(own)
        else:
            found.append([group])
            width = len(own)
    return found


def _without_empty_rows(table: Table, count: int) -> Table:
    """Leave out rows of which the last ``count`` columns show nothing; a dash stands for something."""

    def shows(row: tuple[Entry, ...]) -> bool:
        return any(entry.text or entry.notes for entry in row[-count:])

    groups = (replace(group, rows=tuple(filter(shows, group.rows))) for group in table.groups)
    return replace(table, groups=tuple(group for group in groups if group.rows))
