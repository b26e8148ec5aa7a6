"""Compares processes that did not take turns, such as those of two runs: Yuen's trimmed means, with Welch's interval.

What differs between the two occasions (temperature, neighbours, the day) is part of the ratio. Two occasions cannot
show how large that is, so an interval covers only what differs between processes of one occasion.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from .bootstrap import LEVEL, WIDEST, Estimate
from .location import FloatArray
from .pairs import DECIDING_LEVEL, Ratio

#: The share of the processes that is trimmed at each end, so that one bad process does not decide…
TRIMMED = 0.2
#: …where there are so many: of five, the three that are left give an interval that covers too rarely.
FEWEST_TRIMMED = 8
#: The fewest processes on each side for a verdict: with fewer, no test without assumptions reaches 1 %.
FEWEST = 5
#: The least standard error of a log ratio that is believed: a clock has a resolution.
LEAST_ERROR = 1e-6


def compare_unpaired(cell: FloatArray, other: FloatArray) -> Ratio | None:
    """Estimate the ratio of two cells from the logarithms of their processes' times.

    Yuen 1974: trimmed means and winsorised variances, in Welch's test for unequal variances; with fewer than
    ``FEWEST_TRIMMED`` processes nothing is trimmed, and it is Welch's test. None where a side has no process; no
    interval where one has a single process. There is a deciding interval from ``FEWEST`` processes on each side.
    """
    if not len(cell) or not len(other):
        return None
    means, variances, freedoms = zip(*map(_trimmed, (cell, other)), strict=True)
    shift, n = means[0] - means[1], min(len(cell), len(other))
    if n < 2:
        return Ratio(Estimate(math.exp(shift), None, None, n), 1.0, None)
    error = max(math.sqrt(sum(variances)), LEAST_ERROR)
    shares = [variance**2 / freedom for variance, freedom in zip(variances, freedoms, strict=True)]
    freedom = sum(variances) ** 2 / sum(shares) if sum(shares) > 0.0 else float(min(freedoms))
    p = 2.0 * float(special.stdtr(freedom, -abs(shift) / error))
    low, high = _interval(shift, error, freedom, LEVEL)
    deciding = _interval(shift, error, freedom, DECIDING_LEVEL) if n >= FEWEST else None
    return Ratio(Estimate(math.exp(shift), low, high, n), p, deciding)


def _trimmed(values: FloatArray) -> tuple[float, float, int]:
    """Return the trimmed mean of a side, its squared standard error and its degrees of freedom."""
    ascending, n = np.sort(values), len(values)
    cut = int(TRIMMED * n) if n >= FEWEST_TRIMMED else 0
    kept = n - 2 * cut
    mean = float(ascending[cut : n - cut].mean())
    if kept < 2:
        return mean, 0.0, 1
    winsorised = np.clip(ascending, ascending[cut], ascending[n - 1 - cut])
    deviations = float(((winsorised - winsorised.mean()) ** 2).sum())
    return mean, deviations / (kept * (kept - 1)), kept - 1


def _interval(shift: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    reach = float(special.stdtrit(freedom, (1.0 + level) / 2.0)) * error
    reach = min(reach, math.log(WIDEST))
    return math.exp(shift - reach), math.exp(shift + reach)
