"""Says what cells must share to be compared."""

from __future__ import annotations

from bench.cell import Cell


def row_key(cell: Cell) -> tuple[str, int]:
    return cell.row, cell.threads
