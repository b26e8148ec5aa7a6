"""Splits a table that does not fit on a LaTeX page into parts that do: by columns, and by rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..tables.table import Entry, Group, Table, with_columns
from ..words.language import _

#: Characters of a row, at the size of a footnote, beyond which it would have to be set too small.
ROW_LENGTH = 170
#: Between two columns.
GAP = 2
#: Characters of a line of text across a landscape page.
LINE_LENGTH = 180
#: Characters of a line of an entry that may take several.
WRAPPED = 60
#: Lines of one float: rows, captions, footnotes and remarks.
LINES = 48
#: Rows of one group, so that there is room for what stands around them.
ROWS = 24


def parts_of(table: Table) -> Iterator[Table]:
    """Split a table into parts that fit on a page each, the first with its remarks; those may need a page as well."""
    parts = [part for slice in column_slices(table) for part in row_slices(slice)]
    apart = bool(parts[0].groups) and height(parts[0]) > LINES
    for number, part in enumerate(parts, start=1):
        bare = replace(_numbered(part, number), remarks=(), sentences=())
        yield bare if apart or number > 1 else replace(bare, remarks=table.remarks, sentences=table.sentences)
    if apart:
        yield replace(_numbered(table, len(parts) + 1), groups=())


def _numbered(part: Table, number: int) -> Table:
    if number == 1:
        return part
    caption = _("{caption} (continued, part {number}).", caption=part.caption.partition(":")[0], number=number)
    return replace(part, name=f"{part.name}-{number}", caption=caption)


def height(table: Table) -> int:
    """Return about how many lines a part takes."""
    texts = (table.banner, table.caption, *table.sentences, *table.marks, *table.remarks)
    words = sum(-(-len(text) // LINE_LENGTH) for text in texts)
    rows = sum(lines_of(table, row) for row in table.rows)
    return words + 3 + rows + sum(2 for group in table.groups if group.heading.text)


def lines_of(table: Table, row: Sequence[Entry]) -> int:
    """Return how many lines a row takes."""
    wrapping = (len(entry.text) for column, entry in zip(table.columns, row, strict=True) if column.wraps)
    return max((-(-length // WRAPPED) for length in wrapping), default=1) or 1


def is_wrapped(table: Table, i: int) -> bool:
    """Tell whether entries of a column take several lines."""
    return table.columns[i].wraps and any(len(row[i].text) > WRAPPED for row in table.rows)


def column_widths(table: Table) -> list[int]:
    """Return the characters of each column, with the gap behind it."""
    units = [{group.units[i] for group in table.groups} for i in range(len(table.columns))]
    return [
        GAP + WRAPPED
        if is_wrapped(table, i)
        else GAP
        + max(
            max(map(len, column.title.split("\n")))
            + (len(max(units[i])) + 3 if len(units[i]) == 1 and max(units[i]) else 0),
            *(len(row[i].text) + bool(row[i].notes) for row in table.rows),
            0,
        )
        for i, column in enumerate(table.columns)
    ]


def column_slices(table: Table) -> list[Table]:
    """Split a table that is too wide; every slice begins with the columns that name the rows."""
    widths = column_widths(table)
    names = list(range(table.names))
    room = ROW_LENGTH - sum(widths[i] for i in names)
    slices: list[list[int]] = [[]]
    for i in range(table.names, len(widths)):
        if slices[-1] and sum(widths[k] for k in slices[-1]) + widths[i] > room:
            slices.append([])
        slices[-1].append(i)
    return [with_columns(table, [*names, *kept]) for kept in slices] if len(slices) > 1 else [table]


def row_slices(table: Table) -> list[Table]:
    """Split a table that is too long, at its groups; a group that is too long itself is split as well."""
    rows = max(1, ROWS // max((lines_of(table, row) for row in table.rows), default=1))
    pieces = [
        replace(group, rows=group.rows[first : first + rows])
        for group in table.groups
        for first in range(0, len(group.rows), rows)
    ]
    slices: list[list[Group]] = [[]]
    bare = replace(table, remarks=(), sentences=())
    # The remarks stand below the first part, unless one group and they are too much already.
    first = table if height(replace(table, groups=tuple(pieces[:1]))) <= LINES else bare
    for piece in pieces:
        around = first if len(slices) == 1 else bare
        if slices[-1] and height(replace(around, groups=(*slices[-1], piece))) > LINES:
            slices.append([])
        slices[-1].append(piece)
    return [replace(table, groups=tuple(groups)) for groups in slices]
