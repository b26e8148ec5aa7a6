"""Fits a table into a screen: how wide its columns are, which of them are left out, and how many lines it takes."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from ..words.language import _
from ..words.text import printable
from .table import Group, Table, mark

#: The terminal that the first table of a run fits into.
WIDTH, HEIGHT = 80, 24
#: Has the tables of a run with all their columns.
FILE = "table.md"
#: Blanks between two columns: a divider and padding; fewer rather than leaving a column out.
GAP, NARROW_GAP = 2, 1
#: Names of rows are broken into lines of this length rather than leaving a column out.
NAME, INDENT = 26, "  "


def headings(table: Table, group: Group) -> list[str]:
    """Return the columns' titles with their units below them."""
    return [
        "\n".join(filter(None, (*map(printable, column.title.split("\n")), printable(unit))))
        for column, unit in zip(table.columns, group.units, strict=True)
    ]


def column_widths(table: Table) -> list[int]:
    """Return the width of each column over all groups, so that they stand below each other."""
    marks = table.marks
    widths = [0] * len(table.columns)
    for group in table.groups:
        for i, title in enumerate(headings(table, group)):
            entries = (cell_len(printable(row[i].text)) + len(mark(row[i], marks)) for row in group.rows)
            widths[i] = max(widths[i], *map(cell_len, title.split("\n")), *entries, 0)
    return widths


def fitting(table: Table, widths: Sequence[int], room: int) -> tuple[list[int], int]:
    """Choose the columns that fit into ``room``, the most dispensable left out first, and the gap between them."""
    kept = list(range(len(table.columns)))
    dispensable = sorted((i for i in kept if table.columns[i].dispensable), key=lambda i: -table.columns[i].dispensable)
    gap = GAP if sum(widths[column] + GAP for column in kept) <= room else NARROW_GAP
    for i in dispensable:
        if sum(widths[column] + gap for column in kept) <= room:
            break
        kept.remove(i)
    return kept, gap


def fitted(table: Table, room: int) -> tuple[list[int], int, list[int]]:
    """Choose the columns that fit into ``room``, the gap between them, and all columns' widths."""
    widths = column_widths(table)
    kept, gap = fitting(table, widths, room)
    names = [row[0] for row in table.rows]
    if len(kept) == len(widths) or any(name.notes for name in names):
        return kept, gap, widths
    longest = max((cell_len(word) for name in names for word in printable(name.text).split()), default=0)
    narrower = [min(widths[0], max(NAME, longest + len(INDENT))), *widths[1:]]
    more, its_gap = fitting(table, narrower, room)
    return (more, its_gap, narrower) if len(more) > len(kept) else (kept, gap, widths)


def name_lines(name: str, width: int) -> list[str]:
    """Break the name of a row into lines."""
    lines = [""]
    for word in printable(name).split():
        longer = f"{lines[-1]} {word}" if lines[-1].strip() else f"{lines[-1]}{word}"
        if lines[-1].strip() and cell_len(longer) > width:
            lines.append(f"{INDENT}{word}")
        else:
            lines[-1] = longer
    return lines


def left_out(table: Table, kept: Sequence[int], file: str) -> str:
    """Say in a line which columns are not among the ``kept`` ones. Empty where all are kept.

    ``file`` has them; where it is empty, only a wider terminal shows them.
    """
    names = [column.named for i, column in enumerate(table.columns) if i not in kept]
    if not names:
        return ""
    for number in range(len(names), 0, -1):
        more = [_("{count} more", count=len(names) - number)] if number < len(names) else []
        columns = ", ".join([*names[:number], *more])
        if file:
            text = _("Not shown: {columns} (see {file}).", columns=columns, file=file)
        else:
            text = _("Not shown: {columns} (a wider terminal shows more).", columns=columns)
        if cell_len(text) <= WIDTH:
            break
    return text


def height(table: Table) -> int:
    """Return how many lines the table takes on the screen, with what stands above and below it."""
    kept, _gap, widths = fitted(table, WIDTH)
    titles = [title.count("\n") + 1 for group in table.groups for title in headings(table, group)]
    rows = sum(len(name_lines(row[0].text, widths[0])) for row in table.rows)
    texts = (table.banner, table.caption, *table.sentences, *table.remarks, left_out(table, kept, FILE))
    # A rule below the heading, and a blank line below the table.
    return sum(map(lines_of, texts)) + max(titles, default=0) + rows + 2


def lines_of(text: str) -> int:
    """Return how many lines a text takes on the screen."""
    return len(textwrap.wrap(printable(text), WIDTH))
