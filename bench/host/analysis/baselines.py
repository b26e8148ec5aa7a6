"""Chooses what each cell is compared with: a column, the best of its row, or the version before.

A baseline that is a column, or the version before, is chosen without the data: by the study, or by the person who asks
for a report. The best of a row is chosen by the same data that compare it with the others, so those comparisons have no
verdicts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from packaging.version import Version

from bench.cell import Cell

from ..study.baseline import BEST, PREVIOUS
from ..study.twin import is_twin
from .quality import Quality
from .releases import order
from .results import Result, by_row
from .versions import version_of, without_build

#: {cell: the result that it is compared with}; a cell that others are compared with alone is not in it.
Baselines = Mapping[Cell, Result]


def baselines_of(results: Sequence[Result], baseline: str | None) -> Baselines:
    """Return what each cell is compared with; cells without such a result are not in it."""
    choose = _chooser(results, baseline)
    found: dict[Cell, Result] = {}
    for row in by_row(results).values():
        found.update(choose(row))
    return found


def _chooser(results: Sequence[Result], baseline: str | None) -> Callable[[Sequence[Result]], Mapping[Cell, Result]]:
    if baseline == BEST:
        return _best
    if baseline == PREVIOUS:
        before = columns_before(results)
        return lambda row: _in_columns(row, before)
    return lambda row: _in_columns(row, {result.cell.column: baseline for result in row if baseline is not None})


def _in_columns(row: Sequence[Result], columns: Mapping[str, str]) -> dict[Cell, Result]:
    """Compare each cell with the one of the column that ``columns`` names for its own."""
    places = {result.cell.column: result for result in row}
    return {
        result.cell: base
        for result in row
        if (base := places.get(columns.get(result.cell.column, ""))) is not None and base is not result
    }


def _best(row: Sequence[Result]) -> dict[Cell, Result]:
    usable = [one for one in row if not is_twin(one.cell) and one.quality not in (None, Quality.DISTURBED)]
    best = min(usable, key=lambda one: one.step.value if one.step else 0.0, default=None)
    return {} if best is None else {result.cell: best for result in row if result is not best}


def columns_before(results: Iterable[Result]) -> dict[str, str]:
    """Return for each column the one of the same framework and mode whose version is the next lower one."""
    versions: dict[tuple[str, str], dict[str, tuple[int, Version, str]]] = {}
    for result in results:
        cell = result.cell
        if not is_twin(cell) and (version := _version(result)):
            versions.setdefault((cell.framework, cell.mode), {}).setdefault(cell.column, order(version))
    found = {}
    for columns in versions.values():
        for column, place in columns.items():
            older = [other for other in columns if columns[other] < place]
            if older:
                found[column] = max(older, key=lambda other: columns[other])
    return found


def _version(result: Result) -> str:
    """Return the version of a cell's framework without its build; empty where no record has it."""
    return without_build(version_of(result.names, (record.versions for record in result.records)))
