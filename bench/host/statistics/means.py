"""Estimates the mean of few values with Student's interval, and tests where it lies."""

from __future__ import annotations

import math

from scipy import special

from .bootstrap import LEVEL, Estimate
from .location import FloatArray


def estimate_mean(values: FloatArray) -> Estimate:
    """Estimate the mean of a population of units, one value per unit; a single unit has no interval."""
    n = len(values)
    mean = float(values.mean())
    if n < 2:
        return Estimate(mean, None, None, n)
    reach = float(special.stdtrit(n - 1, (1.0 + LEVEL) / 2.0)) * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - reach, mean + reach, n)


def mean_p(values: FloatArray, mean: float) -> float:
    """Return the two-sided p value of Student's test of "the population's mean is ``mean``"; 1 for a single unit."""
    n = len(values)
    if n < 2:
        return 1.0
    distance, error = abs(float(values.mean()) - mean), float(values.std(ddof=1)) / math.sqrt(n)
    if not error:
        return 0.0 if distance else 1.0
    return 2.0 * float(special.stdtr(n - 1, -distance / error))
