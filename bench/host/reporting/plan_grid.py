"""Lays out the cells of a plan as text: as a table, or as two lists where the table is wider than the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from tabulate import tabulate

from bench.cell import Cell

from .words.language import _

Value = TypeVar("Value")
#: Cells, each with the number of the reason why it is left out; None for one that runs.
Marks = Mapping[Cell, int | None]


def plan_grid(marks: Marks, width: int | None) -> str:
    """Return a table of what runs; where it is wider than ``width``, a list of the rows and one of the columns."""
    table = _table(marks)
    if width is None or max(map(len, table.splitlines())) <= width:
        return table
    rows = _list(_("workload/size/precision/device"), lambda cell: cell.row, _sorted(marks), marks)
    columns = _list(_("column"), lambda cell: cell.column, _by_environment(marks), marks)
    return f"{rows}\n\n{columns}"


def _table(marks: Marks) -> str:
    rows = _distinct(cell.row for cell in _sorted(marks))
    columns = _distinct((cell.environment, cell.mode) for cell in _by_environment(marks))
    texts = {(c.row, c.environment, c.mode): _("run") if n is None else f"[{n}]" for c, n in marks.items()}
    body = [[row, *(texts.get((row, *column), "") for column in columns)] for row in rows]
    headers = [_("workload/size/precision/device"), *map("\n".join, columns)]
    return tabulate(body, headers, "simple")


def _list(title: str, name: Callable[[Cell], str], cells: list[Cell], marks: Marks) -> str:
    """List what ``name`` tells apart, each with the cells that run and those that are left out, with their reasons."""
    body = []
    for one in _distinct(map(name, cells)):
        numbers = [number for cell, number in marks.items() if name(cell) == one]
        reasons = sorted({number for number in numbers if number is not None})
        left_out = sum(number is not None for number in numbers)
        told = f"{left_out}: {' '.join(f'[{number}]' for number in reasons)}" if left_out else ""
        body.append([one, len(numbers) - left_out, told])
    return tabulate(body, [title, _("run"), _("left out")], "simple", disable_numparse=True)


def _sorted(marks: Marks) -> list[Cell]:
    """Return the cells with the rows of a workload together."""
    workloads = _distinct(cell.workload for cell in marks)
    return sorted(marks, key=lambda cell: workloads.index(cell.workload))


def _by_environment(marks: Marks) -> list[Cell]:
    """Return the cells with the columns of an environment together."""
    environments = _distinct(cell.environment for cell in marks)
    return sorted(marks, key=lambda cell: environments.index(cell.environment))


def _distinct(values: Iterable[Value]) -> list[Value]:
    return list(dict.fromkeys(values))
