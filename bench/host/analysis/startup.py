"""Knows what a cell costs before its first step, and when a faster step has made good for it."""

from __future__ import annotations

import math

from ..reporting.tables.table import EMPTY
from ..statistics.verdict import Verdict
from .results import Result

#: Verdicts without a saving per step to speak of.
NO_SAVING = (Verdict.EQUIVALENT, Verdict.INCONCLUSIVE)
FORMULA = "(cold call − baseline's cold call) / (baseline's step time − step time)"


def break_even(result: Result, baseline: Result | None) -> float | None:
    """Return after how many steps a cell has made good for its slower start.

    Infinite where its steps are not faster, 0 where its start is no slower. None where a figure is missing, and where
    no difference between the steps is known, by the verdict or, without one, by the interval of the ratio: it would be
    divided by noise.
    """
    if baseline is None or baseline is result or result.step is None or baseline.step is None:
        return None
    cold, other = result.first_call_s("cold"), baseline.first_call_s("cold")
    if cold is None or other is None or result.refused or result.verdict in NO_SAVING or _may_be_equal(result):
        return None
    saving = baseline.step.value - result.step.value
    return max(0.0, (cold - other) / saving) if saving > 0 else math.inf


def _may_be_equal(result: Result) -> bool:
    """Tell whether, without a verdict, the interval of the ratio holds equality, or there is none."""
    if result.verdict is not None or result.ratio is None:
        return result.ratio is None
    low, high = result.ratio.estimate.low, result.ratio.estimate.high
    return low is None or high is None or low <= 1.0 <= high


def format_break_even(steps: float | None) -> str:
    """Write the number of steps, to two digits as first calls vary: ``4100``, ``at once`` or ``never``."""
    if steps is None:
        return EMPTY
    if math.isinf(steps):
        return "never"
    return f"{float(f'{math.ceil(steps):.2g}'):.0f}" if steps else "at once"


def import_s(result: Result) -> float | None:
    """Return the seconds of an import beside those of its row, as most are; of one alone where there is no other."""
    shared = result.import_s(alone=False)
    return result.import_s(alone=True) if shared is None else shared
