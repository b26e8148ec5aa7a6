"""Judges a history for a script: which cells the newest change made slower, and which series are too short yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..statistics.unpaired import FEWEST
from ..statistics.verdict import Verdict
from ..storage.accepted_changes import Acceptance
from .series import CellSeries, RunSeries, SeriesChange

#: A series of fewer runs has no change with a verdict: each of its two levels needs ``FEWEST`` runs.
FEWEST_RUNS = 2 * FEWEST


@dataclass(frozen=True)
class SeriesJudged:
    """What the gate found in a history."""

    #: The newest changes of their series that made a cell slower by more than the limit.
    slower: tuple[SeriesChange, ...]
    #: Those that a person accepted, each with the reason.
    accepted: tuple[tuple[SeriesChange, str], ...]
    #: The series that are long enough for a verdict.
    judged: int
    #: Series of the newest run that are too short for one, such as after a change of machine; older ones are history.
    short: tuple[CellSeries, ...]


def judge(
    history: RunSeries, changes: Sequence[SeriesChange], limit: float, accepted: Sequence[Acceptance]
) -> SeriesJudged:
    """Judge the changes by ``limit``, a fraction: 0.05 for ``slower:5%``."""
    slower = [(one, reason_for(one, history, accepted)) for one in changes if _is_slower(one, 1.0 + limit)]
    newest = len(history.runs) - 1
    short = tuple(one for one in history.series if one.runs[-1] == newest and len(one.runs) < FEWEST_RUNS)
    return SeriesJudged(
        tuple(one for one, reason in slower if reason is None),
        tuple((one, reason) for one, reason in slower if reason is not None),
        sum(len(one.runs) >= FEWEST_RUNS for one in history.series),
        short,
    )


def _is_slower(one: SeriesChange, factor: float) -> bool:
    return one.newest and one.verdict is Verdict.DIFFERENT and one.change.ratio.estimate.value > factor


def reason_for(one: SeriesChange, history: RunSeries, accepted: Sequence[Acceptance]) -> str | None:
    """Return why a change is accepted, in the words of the newest that covers it; None where none does."""
    run = history.runs[one.series.runs[one.change.at]].run
    return next((each.reason for each in reversed(accepted) if each.covers(one.series.cell, run)), None)
