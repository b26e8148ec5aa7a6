"""Computes the interval of an estimate over units, processes or pairs: a seeded bootstrap, Student's for few."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import special

from .location import FloatArray, quantiles

LEVEL = 0.95
RESAMPLES = 2000
SEED = 20261121

#: With fewer units a bootstrap interval cannot reach ``LEVEL``: see ``attainable_level``.
FEWEST_FOR_BOOTSTRAP = 6
#: Student's interval of two units can be as wide as one likes; a factor beyond this says nothing more.
WIDEST = 1e6

#: With more units nearly all resamples differ, and a cell has its resamples computed on its own.
MOST_TOGETHER = 6
#: Cells that are computed together, which limits the memory.
BATCH = 256

CountArray = npt.NDArray[np.int32]
IndexArray = npt.NDArray[np.intp]
#: Maps one value per unit, and how often each resample took each unit, shape (n, resamples), to a number per resample;
#: or values of shape (cells, n) to numbers of shape (cells, resamples).
Statistic = Callable[[FloatArray, CountArray], FloatArray]


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; ``low`` and ``high`` are None where ``n`` units are too few for an interval."""

    value: float
    low: float | None
    high: float | None
    #: Units behind it: processes, or pairs of processes.
    n: int


def attainable_level(n: int) -> float:
    """Return the largest probability with which an interval inside the range of ``n`` units covers their true median.

    The median lies outside the range when all units fall on one side of it: 2 · 2⁻ⁿ (David & Nagaraja 2003, 7.1).
    """
    return 1.0 - 2.0 ** (1 - n) if n > 1 else 0.0


def tail_probability(n: int, level: float = LEVEL) -> float:
    """Return the percentile at which to cut each tail, widened for small ``n``.

    The plain percentile interval is too narrow by about sqrt((n-1)/n), and uses a normal quantile instead of
    Student's. Moving the percentiles corrects both (Hesterberg 2015: "expanded percentile interval").
    """
    t = special.stdtrit(n - 1, (1.0 - level) / 2.0)
    return float(special.ndtr(math.sqrt(n / (n - 1)) * t))


@functools.lru_cache(maxsize=64)
def resample_counts(n: int, resamples: int = RESAMPLES, seed: int = SEED) -> CountArray:
    """Draw how often each resample takes each of ``n`` units, shape (n, resamples).

    The draw depends on ``n`` alone, so adding a cell to a study does not change the interval of another cell.
    """
    drawn = np.random.default_rng((seed, n)).multinomial(n, np.full(n, 1.0 / n), size=resamples)
    counts = np.ascontiguousarray(drawn.T, dtype=np.int32)
    counts.setflags(write=False)
    return counts


@functools.lru_cache(maxsize=64)
def sample_and_resamples(n: int, resamples: int, seed: int) -> CountArray:
    """Return the sample itself, which takes each unit once, and then the resamples, as ``resample_counts`` does."""
    counts = np.hstack([np.ones((n, 1), dtype=np.int32), resample_counts(n, resamples, seed)])
    counts.setflags(write=False)
    return counts


@functools.lru_cache(maxsize=64)
def distinct_resamples(n: int, resamples: int = RESAMPLES, seed: int = SEED) -> tuple[CountArray, IndexArray]:
    """Return the resamples that differ, as ``resample_counts`` does, and which of them each of all resamples is.

    Four units have 35 resamples that differ, so most of 2000 are repetitions.
    """
    counts, which = np.unique(resample_counts(n, resamples, seed), axis=1, return_inverse=True)
    return counts, which.ravel()


def weighted_median(points: FloatArray, weight: Callable[[int], CountArray], total: int) -> FloatArray:
    """Return, for each resample, the median of ``points`` where point *i* occurs ``weight(i)`` times, ``total`` in all.

    ``weight(i)`` holds a number per resample. All resamples pass through the points together, in ascending order. So
    the weights of all points, which are many where points are pairs of units, are never in memory at the same time.
    Where ``points`` has a row for each of many cells, so has the result; that is for few points and resamples.
    """
    if points.ndim > 1:
        return _weighted_medians(points, weight, total)
    order = np.argsort(points)
    passed = np.zeros_like(weight(0))
    # How many points lie below the middle; below the second one, too, where two are as near to it.
    below = {half: np.zeros(passed.shape, np.min_scalar_type(len(points))) for half in ((total - 1) // 2, total // 2)}
    for i in order.tolist():
        passed += weight(i)
        for half, count in below.items():
            under = passed <= half
            # Without a conversion the sum takes a third of the time.
            count += under.view(np.uint8) if count.dtype == np.uint8 else under
    ascending = points[order]
    lower, upper = ascending[below[(total - 1) // 2]], ascending[below[total // 2]]
    return np.asarray((lower + upper) / 2.0)


def _weighted_medians(points: FloatArray, weight: Callable[[int], CountArray], total: int) -> FloatArray:
    order = np.argsort(points, axis=1)
    passed = np.cumsum(np.stack([weight(i) for i in range(points.shape[1])])[order], axis=1)
    ascending = np.take_along_axis(points, order, axis=1)
    lower, upper = (
        np.take_along_axis(ascending, (passed <= half).sum(axis=1), axis=1) for half in ((total - 1) // 2, total // 2)
    )
    return np.asarray((lower + upper) / 2.0)


def median(values: FloatArray, counts: CountArray) -> FloatArray:
    """Return the median of each resample."""
    return weighted_median(values, lambda i: counts[i], values.shape[-1])


def estimate(values: FloatArray, statistic: Statistic, *, level: float = LEVEL, seed: int = SEED) -> Estimate:
    """Estimate ``statistic`` of the population of units, one value per unit, with its bootstrap interval."""
    n = len(values)
    if n < 2:
        return Estimate(float(statistic(values, np.ones((n, 1), dtype=np.int32))[0]), None, None, n)
    value, drawn = np.split(statistic(values, sample_and_resamples(n, RESAMPLES, seed)), (1,))
    tail = tail_probability(n, level)
    low, high = quantiles(np.sort(drawn), np.array((tail, 1.0 - tail))).tolist()
    return Estimate(float(value[0]), low, high, n)


def estimate_each(each: Sequence[FloatArray], statistic: Statistic) -> list[Estimate]:
    """Estimate ``statistic`` of many populations, each as ``estimate`` does, those with equally few units together."""
    found: dict[int, Estimate] = {}
    groups: dict[int, list[int]] = {}
    for i, values in enumerate(each):
        if len(values) <= MOST_TOGETHER:
            groups.setdefault(len(values), []).append(i)
        else:
            found[i] = estimate(values, statistic)
    for group in groups.values():
        for first in range(0, len(group), BATCH):
            some = group[first : first + BATCH]
            table = np.array([each[i] for i in some])
            found.update(zip(some, _estimate_together(table, statistic), strict=True))
    return [found[i] for i in range(len(each))]


def _estimate_together(values: FloatArray, statistic: Statistic) -> list[Estimate]:
    """Estimate ``statistic`` for each row of units."""
    n = values.shape[1]
    value = statistic(values, np.ones((n, 1), dtype=np.int32))[:, 0].tolist()
    if n < 2:
        return [Estimate(one, None, None, n) for one in value]
    counts, which = distinct_resamples(n)
    tail = tail_probability(n)
    low, high = np.quantile(statistic(values, counts)[:, which], (tail, 1.0 - tail), axis=1).tolist()
    return [Estimate(*one, n) for one in zip(value, low, high, strict=True)]


def widen_for_few(found: Estimate, logs: FloatArray) -> Estimate:
    """Widen the interval of few positive values, whose logarithms are ``logs``, to Student's where that is wider.

    A bootstrap interval cannot leave the range of the values, which is too narrow where ``attainable_level`` is below
    ``LEVEL``: of three pairs of real processes it covers the ratio in 78 % of cases, Student's in 96 %
    (benchmarks/quality_marks.py). Logarithms keep the interval positive.
    """
    n = found.n
    if found.low is None or found.high is None or attainable_level(n) >= LEVEL:
        return found
    reach = float(special.stdtrit(n - 1, (1.0 + LEVEL) / 2.0)) * float(logs.std(ddof=1)) / math.sqrt(n)
    factor = math.exp(min(reach, math.log(WIDEST)))
    middle = math.exp(float(logs.mean()))
    return replace(found, low=min(found.low, middle / factor), high=max(found.high, middle * factor))


def estimate_median(locations: FloatArray) -> Estimate:
    """Estimate the median of the processes' locations, which is the published time of a cell."""
    return estimate_medians([locations])[0]


def estimate_medians(each: Sequence[FloatArray]) -> list[Estimate]:
    """Estimate many medians, each as ``estimate_median`` does, those with equally few processes together."""
    found = estimate_each(each, median)
    return [widen_for_few(one, np.log(own)) for one, own in zip(found, each, strict=True)]
