"""Makes the A/A twin: one column of the study, measured a second time under another name.

Both are the same cells in the same environment, so every difference between them is noise of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bench.cell import Cell

#: The name of an environment cannot contain it (see values.NAME_PATTERN).
SUFFIX = "~twin"


def original(environment: str) -> str:
    """Return the environment behind a name: itself, or the one whose twin it is."""
    return environment.removesuffix(SUFFIX)


def is_twin(cell: Cell) -> bool:
    return cell.environment.endswith(SUFFIX)


def original_cell(cell: Cell) -> Cell:
    return replace(cell, environment=original(cell.environment))


def column_to_repeat(cells: Sequence[Cell], baseline: str) -> str | None:
    """Choose the column that gets a twin: the baseline where it is measured, otherwise the first of the table."""
    columns = list(dict.fromkeys(cell.column for cell in cells))
    return baseline if baseline in columns else next(iter(columns), None)


def with_twin(cells: Iterable[Cell], column: str | None) -> tuple[Cell, ...]:
    """Put the twin of each cell of ``column`` right behind it."""
    found: list[Cell] = []
    for cell in cells:
        found.append(cell)
        if cell.column == column:
            found.append(replace(cell, environment=cell.environment + SUFFIX))
    return tuple(found)
