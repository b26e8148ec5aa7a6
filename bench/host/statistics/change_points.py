"""Knows where the mean or the spread of a series changes: the best of all segmentations, for many series at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .location import NORMAL_MAD, FloatArray

#: No segment is shorter: two points have no spread.
SHORTEST = 3
#: Standard deviations below this, of the logarithm of a time, are taken for this: a clock has steps of its own.
LEAST_SD = 1e-3
#: What a change point costs, in units of log n: two parameters and a position, as in the Bayesian criterion, and as
#: much again since samples next to each other are alike.
PENALTY = 6.0
#: The variance of a segment is estimated as if so many points more had the series' own noise: three points that happen
#: to lie close together are no segment.
PRIOR = 3.0
#: Series that are worked on together, which bounds the memory.
BATCH = 512


def segments(series: FloatArray) -> list[list[int]]:
    """Return where the segments of each row end; the last end is the row's length.

    Optimal partitioning (Jackson et al. 2005) of the Gaussian likelihood with a mean and a variance per segment, which
    PELT minimises as well (Killick, Fearnhead & Eckley 2012); all rows take each step together.
    """
    found: list[list[int]] = []
    for first in range(0, len(series), BATCH):
        found += map(_trace, _best_starts(series[first : first + BATCH]).tolist())
    return found


def _best_starts(series: FloatArray) -> FloatArray:
    """Return, for each row and end, where the last segment of the best segmentation up to there begins."""
    count, size = series.shape
    centred = series - np.median(series, axis=1, keepdims=True)
    noise = np.maximum(NORMAL_MAD * np.median(np.abs(np.diff(series, axis=1)), axis=1) / np.sqrt(2.0), LEAST_SD)
    prior = PRIOR * noise[:, np.newaxis] ** 2
    sums = np.pad(np.cumsum(centred, axis=1), ((0, 0), (1, 0)))
    squares = np.pad(np.cumsum(centred**2, axis=1), ((0, 0), (1, 0)))
    penalty = PENALTY * np.log(size)
    best = np.full((count, size + 1), np.inf)
    best[:, 0] = -penalty
    previous = np.zeros((count, size + 1), dtype=np.int64)
    for end in range(SHORTEST, size + 1):
        starts = slice(0, end - SHORTEST + 1)
        points = end - np.arange(end - SHORTEST + 1)
        mean = (sums[:, end, np.newaxis] - sums[:, starts]) / points
        deviations = squares[:, end, np.newaxis] - squares[:, starts] - points * mean**2
        variance = (np.maximum(deviations, 0.0) + prior) / (points + PRIOR)
        cost = best[:, starts] + points * np.log(variance)
        chosen = cost.argmin(axis=1)
        previous[:, end] = chosen
        best[:, end] = cost[np.arange(count), chosen] + penalty
    return previous


def _trace(previous: Sequence[int]) -> list[int]:
    ends = [len(previous) - 1]
    while previous[ends[-1]] > 0:
        ends.append(previous[ends[-1]])
    return ends[::-1]
