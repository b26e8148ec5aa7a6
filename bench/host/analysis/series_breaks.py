"""Finds where the series of a cell ends and another one begins, and what differs between the two."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

from ..storage.run_summary import CellSummary, RunFacts
from .fairness import GROUNDS, Difference
from .series import MACHINE, CellSeries, RunSeries, differing


@dataclass(frozen=True)
class SeriesBreak:
    """Cells that have a new series from one run on, for the same reasons: they are not compared across it."""

    cells: tuple[CellSummary, ...]
    #: The place of the run in the history.
    at: int
    differences: tuple[Difference, ...]


def find_breaks(history: RunSeries, *, relative: bool = False) -> list[SeriesBreak]:
    """Find the breaks of all cells, the newest first; cells with the same break are in one."""
    by_cell: dict[tuple[str, str, int], list[CellSeries]] = {}
    for series in sorted(history.series, key=lambda one: one.runs[0]):
        by_cell.setdefault(series.cell.key, []).append(series)
    found: dict[tuple[int, tuple[Difference, ...]], list[CellSummary]] = {}
    for several in by_cell.values():
        for before, after in itertools.pairwise(several):
            one, other = (_context(history.runs[each.runs[0]], each.cell, relative) for each in (before, after))
            found.setdefault((after.runs[0], tuple(differing(one, other))), []).append(after.cell)
    breaks = [SeriesBreak(tuple(cells), at, differences) for (at, differences), cells in found.items()]
    return sorted(breaks, key=lambda one: (-one.at, -len(one.cells)))


def _context(facts: RunFacts, cell: CellSummary, relative: bool) -> Mapping[str, object]:
    """Return everything that the runs of a series have in common: what ``series.collect`` groups them by."""
    settings = facts.settings_of(cell)
    return {
        **{name: facts.machine.get(name) for name in MACHINE},
        "seed": facts.seed,
        "processes": facts.workers,
        "baseline": (cell.base or facts.baseline) if relative else None,
        **{f"setting {name}": settings[name] for name in GROUNDS if name in settings},
        **facts.work_of(cell),
    }
