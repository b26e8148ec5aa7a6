"""Finds where the mean or the spread of a series changes, by the best of all segmentations, for many series at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .location import NORMAL_MAD, FloatArray

#: The fewest points of a segment: two points have no spread.
SHORTEST = 3
#: The least standard deviation of the logarithm of a time; a clock has a resolution.
LEAST_SD = 1e-3
#: The penalty of a change point, in units of log n: two parameters and a position, as in the Bayesian criterion…
INDEPENDENT_PENALTY = 3.0
#: …doubled, since neighbouring samples are correlated: the mean of a segment varies as if it had half of its points.
PENALTY = 2.0 * INDEPENDENT_PENALTY
#: The variance of a segment is estimated with so many more points that have the noise of the whole series. Otherwise
#: three points that lie close together by chance would be a segment.
PRIOR = 3.0
#: Series that are computed together, which limits the memory.
BATCH = 512


PositionArray = npt.NDArray[np.int64]


def segments(series: FloatArray, ends: PositionArray | None = None, *, penalty: float = PENALTY) -> list[list[int]]:
    """Return where the segments of each row end; the last end is the row's length.

    ``ends`` are the positions at which a segment may end, ascending, every one by default; the last is the length.
    ``penalty`` is that of a change point.

    Optimal partitioning (Jackson et al. 2005) of the Gaussian likelihood with a mean and a variance per segment, which
    PELT minimises as well (Killick, Fearnhead & Eckley 2012). Each step is computed for all rows together.
    """
    found: list[list[int]] = []
    for first in range(0, len(series), BATCH):
        batch = series[first : first + BATCH]
        positions = np.arange(batch.shape[1] + 1) if ends is None else np.concatenate([[0], ends])
        found += [_trace(row, positions.tolist()) for row in _best_starts(batch, positions, penalty).tolist()]
    return found


def _best_starts(series: FloatArray, positions: PositionArray, penalty: float) -> PositionArray:
    """Return, for each row and end, where the last segment of the best segmentation up to there begins.

    Ends and beginnings are places in ``positions``, which begins with 0.
    """
    count, size = series.shape
    centred = series - np.median(series, axis=1, keepdims=True)
    noise = np.maximum(NORMAL_MAD * np.median(np.abs(np.diff(series, axis=1)), axis=1) / np.sqrt(2.0), LEAST_SD)
    prior = PRIOR * noise[:, np.newaxis] ** 2
    sums = np.pad(np.cumsum(centred, axis=1), ((0, 0), (1, 0)))[:, positions]
    squares = np.pad(np.cumsum(centred**2, axis=1), ((0, 0), (1, 0)))[:, positions]
    penalty *= np.log(size)
    best = np.full((count, len(positions)), np.inf)
    best[:, 0] = -penalty
    previous = np.zeros((count, len(positions)), dtype=np.int64)
    for end in range(1, len(positions)):
        starts = slice(0, int(np.searchsorted(positions, positions[end] - SHORTEST, side="right")))
        points = positions[end] - positions[starts]
        if not len(points):
            continue
        mean = (sums[:, end, np.newaxis] - sums[:, starts]) / points
        deviations = squares[:, end, np.newaxis] - squares[:, starts] - points * mean**2
        variance = (np.maximum(deviations, 0.0) + prior) / (points + PRIOR)
        cost = best[:, starts] + points * np.log(variance)
        chosen = cost.argmin(axis=1)
        previous[:, end] = chosen
        best[:, end] = cost[np.arange(count), chosen] + penalty
    return previous


def _trace(previous: Sequence[int], positions: Sequence[int]) -> list[int]:
    ends = [len(previous) - 1]
    while previous[ends[-1]] > 0:
        ends.append(previous[ends[-1]])
    return [positions[end] for end in reversed(ends)]
