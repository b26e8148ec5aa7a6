"""Groups cells into rows: the cells of a row compute the same, so that they are compared and take turns."""

from __future__ import annotations

from collections.abc import Iterable

from bench.cell import Cell


def group_by_row(cells: Iterable[Cell]) -> dict[str, tuple[Cell, ...]]:
    """Return the cells of each row, rows and cells in the order given."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(cell.row, []).append(cell)
    return {row: tuple(members) for row, members in found.items()}
