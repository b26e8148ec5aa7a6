"""Estimates the mean of few values with Student's interval."""

from __future__ import annotations

import math

from scipy import special

from .bootstrap import LEVEL, Estimate
from .location import FloatArray


def estimate_mean(values: FloatArray, *, level: float = LEVEL) -> Estimate:
    """Estimate the mean of a population of units, one value per unit; a single unit has no interval."""
    n = len(values)
    mean = float(values.mean())
    if n < 2:
        return Estimate(mean, None, None, n)
    reach = float(special.stdtrit(n - 1, (1.0 + level) / 2.0)) * float(values.std(ddof=1)) / math.sqrt(n)
    return Estimate(mean, mean - reach, mean + reach, n)
