"""Judges a history for a script: which cells the newest change made slower, and which series are too short yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..statistics.unpaired import FEWEST
from ..statistics.verdict import Verdict
from .series import CellSeries, RunSeries, SeriesChange

#: A series of fewer runs has no change with a verdict: each of its two levels needs ``FEWEST`` runs.
FEWEST_RUNS = 2 * FEWEST


@dataclass(frozen=True)
class SeriesJudged:
    """What the gate found in a history."""

    #: The newest changes of their series that made a cell slower by more than the limit.
    slower: tuple[SeriesChange, ...]
    #: The series that are long enough for a verdict.
    judged: int
    #: Series of the newest run that are too short for one, such as after a change of machine; older ones are history.
    short: tuple[CellSeries, ...]


def judge(history: RunSeries, changes: Sequence[SeriesChange], limit: float) -> SeriesJudged:
    """Judge the changes by ``limit``, a fraction: 0.05 for ``slower:5%``."""
    slower = tuple(
        one
        for one in changes
        if one.newest and one.verdict is Verdict.DIFFERENT and one.change.ratio.estimate.value > 1.0 + limit
    )
    newest = len(history.runs) - 1
    short = tuple(one for one in history.series if one.runs[-1] == newest and len(one.runs) < FEWEST_RUNS)
    return SeriesJudged(slower, sum(len(one.runs) >= FEWEST_RUNS for one in history.series), short)
