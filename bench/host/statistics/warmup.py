"""Classifies how the step times of a process change from first trial to last sample, and finds its steady state.

After Barrett et al. 2017 (arXiv 1602.00602): outliers are replaced, and change points split the series into segments.
The last segment, with those before it that are equivalent to it, is the steady state, if it is long enough.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .change_points import segments
from .location import NORMAL_MAD, FloatArray, median

#: The fewest points that are classified.
FEWEST = 12
#: A longer series is reduced to so many points at most…
POINTS = 96
#: …of which the first stand for themselves, as a warm-up is fastest at its start, and the others for blocks.
HEAD = 16
#: Segments are equivalent when their means differ by no more than this, or than one standard deviation of the last…
TOLERANCE = 0.01
#: …or than so many standard errors of the difference; many, as the segments were chosen to differ.
ERRORS = 4.0
#: The steady state is at least this share of the series (Barrett et al.: the last 500 of 2000 iterations), or all timed
#: samples: the trials of a calibration are short, and may be many beside few samples.
STEADY_SHARE = 0.25
#: A point this many standard deviations from the median of its neighbours is an outlier, and takes that median.
OUTLIER = 3.0
#: Neighbours on each side.
REACH = 2


class WarmupClass(enum.Enum):
    """How the step times of a process change."""

    WARM_UP = "warm-up"
    FLAT = "flat"
    SLOWDOWN = "slowdown"
    NO_STEADY_STATE = "no steady state"
    TOO_SHORT = "too short"


@dataclass(frozen=True)
class Warmup:
    """The class of a process, and the first point of the steady state in its series; None where there is none."""

    kind: WarmupClass
    start: int | None


def reduced(log_s: FloatArray) -> tuple[FloatArray, Sequence[int]]:
    """Return the logarithms of series, which are rows, in ``POINTS`` points at most, and where each point begins.

    The end comes last. The median summarises a block, so one slow sample in each block changes nothing.
    """
    count, length = log_s.shape
    size = -(-(length - HEAD) // (POINTS - HEAD))
    if size <= 1:
        return log_s, range(length + 1)
    whole = HEAD + (length - HEAD) // size * size
    blocks = np.median(log_s[:, HEAD:whole].reshape(count, -1, size), axis=2)
    rest = [np.median(log_s[:, whole:], axis=1, keepdims=True)] if whole < length else []
    starts = [*range(HEAD), *range(HEAD, length, size), length]
    return np.concatenate([log_s[:, :HEAD], blocks, *rest], axis=1), starts


def without_outliers(points: FloatArray) -> FloatArray:
    """Replace each outlier by the median of its neighbourhood; series are rows.

    The scale of a series is the median absolute distance of its points from those medians.
    """
    width = 2 * REACH + 1
    padded = np.pad(points, ((0, 0), (REACH, REACH)), mode="reflect")
    local = np.median(np.lib.stride_tricks.sliding_window_view(padded, width, axis=1), axis=-1)
    distance = np.abs(points - local)
    scale = NORMAL_MAD * _median_of_positive(distance)
    return np.where(distance > OUTLIER * scale[:, np.newaxis], local, points)


def _median_of_positive(distance: FloatArray) -> FloatArray:
    """Return the median of the positive numbers of each row, none of which is negative; 0 where there are none."""
    ascending = np.sort(distance, axis=1)
    zeros = (distance == 0).sum(axis=1)
    positive = distance.shape[1] - zeros
    ends = (zeros + (positive - 1) // 2, np.minimum(zeros + positive // 2, distance.shape[1] - 1))
    lower, upper = (ascending[np.arange(len(distance)), end] for end in ends)
    return np.asarray((lower + upper) / 2.0)


def noise(log_s: FloatArray) -> float:
    """Return the standard deviation of single points around their trend, from the differences of neighbours."""
    return NORMAL_MAD * median(np.abs(np.diff(log_s))) / math.sqrt(2.0)


def judge(points: FloatArray, starts: Sequence[int], bounds: Sequence[int], noise: float, trials: int = 0) -> Warmup:
    """Classify one series by its segments, which end at the points ``bounds``; ``starts`` is where each point begins.

    ``trials`` points come before the timed samples. A segment in the head has few points, so it is as uncertain as
    single points are.
    """
    if len(bounds) == 1:
        return Warmup(WarmupClass.FLAT, 0)
    begins = [0, *bounds[:-1]]
    pieces = [points[begin:end] for begin, end in zip(begins, bounds, strict=True)]
    means, deviations = zip(*map(_mean_and_deviation, pieces), strict=True)
    spreads = [
        max(deviation, noise if begin < HEAD else 0.0) for begin, deviation in zip(begins, deviations, strict=True)
    ]
    errors = [spread / math.sqrt(len(piece)) for spread, piece in zip(spreads, pieces, strict=True)]
    least = max(TOLERANCE, deviations[-1])
    tolerances = [max(least, ERRORS * math.hypot(error, errors[-1])) for error in errors]
    first = len(pieces) - 1
    while first > 0 and abs(means[first - 1] - means[-1]) <= tolerances[first - 1]:
        first -= 1
    if first == 0:
        return Warmup(WarmupClass.FLAT, 0)
    start = starts[bounds[first - 1]]
    if starts[-1] - start < STEADY_SHARE * starts[-1] and start > trials:
        return Warmup(WarmupClass.NO_STEADY_STATE, None)
    slower_before = all(means[i] >= means[-1] - tolerances[i] for i in range(first))
    return Warmup(WarmupClass.WARM_UP if slower_before else WarmupClass.SLOWDOWN, start)


def _mean_and_deviation(piece: FloatArray) -> tuple[float, float]:
    """Return what ``mean()`` and ``std()`` return, in a fifth of their time for a few points."""
    mean = float(np.add.reduce(piece)) / len(piece)
    distance = piece - mean
    return mean, math.sqrt(float(np.add.reduce(distance * distance)) / len(piece))


def classify(series: Sequence[FloatArray], trials: Sequence[int] = ()) -> list[Warmup]:
    """Classify series of step times: of each process its calibration trials, then its timed samples, in order.

    ``trials`` is how many of each are trials; none by default. All series at once, since a study has thousands of them.
    """
    long = [i for i, one in enumerate(series) if len(one) >= FEWEST]
    found = [Warmup(WarmupClass.TOO_SHORT, None)] * len(series)
    if not long:
        return found
    by_length: dict[int, list[int]] = {}
    for i in long:
        by_length.setdefault(len(series[i]), []).append(i)
    by_points: dict[int, list[tuple[int, FloatArray, FloatArray, Sequence[int]]]] = {}
    for group in by_length.values():
        log_s = np.log(np.array([series[i] for i in group]))
        points, starts = reduced(log_s)
        rows = zip(group, log_s, points, strict=True)
        by_points.setdefault(points.shape[1], []).extend((*row, starts) for row in rows)
    # Only series of equally many points share a table, as padding would be judged with the points.
    for together in by_points.values():
        table = without_outliers(np.array([points for _, _, points, _ in together]))
        for (i, log, _, starts), row, bounds in zip(together, table, segments(table), strict=True):
            # Most series have one segment, whatever their noise.
            before = trials[i] if trials else 0
            found[i] = judge(row, starts, bounds, noise(log) if len(bounds) > 1 else 0.0, before)
    return found


def steady_from(found: Warmup, trials: int) -> int:
    """Return the first timed sample of the steady state, of a series that begins with ``trials`` calibration trials.

    Earlier samples are left out of the location of a process. It is 0 where there is no steady state. Warm-up and
    slowdown are treated alike: leaving out slow starts but not fast ones would make every process look faster on a
    machine that drifts.
    """
    return max(0, (found.start or 0) - trials)


def steady_turn(found: Warmup, trials: int, sample_turn: npt.NDArray[np.int64]) -> int:
    """Return the first turn that lies in the steady state as a whole.

    ``sample_turn`` is the turn of every timed sample of the series, ascending.
    """
    first = steady_from(found, trials)
    if first == 0:
        return int(sample_turn[0])
    return int(sample_turn[first]) + int(sample_turn[first] == sample_turn[first - 1])
