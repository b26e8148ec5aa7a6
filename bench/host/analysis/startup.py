"""Computes what a cell costs before its first step, and after how many steps faster steps have made up for it."""

from __future__ import annotations

import math

from ..statistics.verdict import Verdict
from .results import Result

#: Verdicts without a saving per step to speak of.
NO_SAVING = (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)


def break_even(result: Result, baseline: Result | None) -> float | None:
    """Return after how many steps faster steps have made up for a slower start: the extra cold call over the saving.

    Infinite where its steps are not faster, 0 where its start is no slower. None where a figure is missing, and where
    no difference between the steps is known, by the verdict or, without one, by the interval of the ratio: the cost
    would be divided by noise.
    """
    if baseline is None or baseline is result or result.step is None or baseline.step is None:
        return None
    cold, other = result.first_call_s("cold"), baseline.first_call_s("cold")
    if cold is None or other is None or result.refused or result.verdict in NO_SAVING or _may_be_equal(result):
        return None
    saving = baseline.step.value - result.step.value
    return max(0.0, (cold - other) / saving) if saving > 0 else math.inf


def overtaken(result: Result, best: Result | None) -> float | None:
    """Return after how many steps the best of a row has made up for its slower start over another cell of the row.

    The steps of the best are the fastest, so the question is when it leads, not whether another one overtakes it. 0
    where its start is no slower; None as for ``break_even``.
    """
    if best is None or best is result or result.step is None or best.step is None:
        return None
    cold, other = best.first_call_s("cold"), result.first_call_s("cold")
    if cold is None or other is None or result.refused or _may_be_equal(result):
        return None
    saving = result.step.value - best.step.value
    return max(0.0, (cold - other) / saving) if saving > 0 else None


def _may_be_equal(result: Result) -> bool:
    """Tell whether, without a verdict, the interval of the ratio holds equality, or there is none."""
    if result.verdict is not None or result.ratio is None:
        return result.ratio is None
    low, high = result.ratio.estimate.low, result.ratio.estimate.high
    return low is None or high is None or low <= 1.0 <= high


def import_s(result: Result) -> float | None:
    """Return the seconds of an import that had the processors for itself; of one beside others where there is none."""
    alone = result.import_s(alone=True)
    return result.import_s(alone=False) if alone is None else alone
