"""Finds the best of a row: the fastest cell, and those that the pairs of processes do not set apart from it."""

from __future__ import annotations

from ..statistics.pairs import estimate_ratio, pair_log_ratios
from .results import Result
from .speed_ups import ComparedCells


def best_of_row(cells: ComparedCells) -> set[str]:
    """Return the columns that are the best of a row; none where fewer than two can be compared.

    A cell is set apart from the fastest where the interval of the ratio of their times lies above 1. The ratio is that
    of their own pairs of processes: the intervals of two speed-ups share the scatter of the baseline, and overlap also
    where the pairs are certain.
    """
    known = {column: cell.speed_up.value for column, cell in cells.items() if cell.speed_up is not None}
    if len(known) < 2:
        return set()
    fastest = max(known, key=known.__getitem__)
    others = [column for column in known if column != fastest]
    equal = [column for column in others if _may_be_equal(cells[column].result, cells[fastest].result)]
    # Of two columns that the pairs set apart by chance, a reader expects the faster one, too.
    least = min(known[column] for column in [fastest, *equal])
    return {column for column, speed_up in known.items() if speed_up >= least}


def _may_be_equal(result: Result, fastest: Result) -> bool:
    """Tell whether the interval of the ratio of their times includes 1; without an interval that is unknown."""
    _keys, log_ratios = pair_log_ratios(result.turns, fastest.turns)
    if not len(log_ratios):
        return False
    ratio = estimate_ratio(log_ratios)
    return ratio.low is not None and ratio.low <= 1.0
