"""Computes Wilcoxon's exact signed-rank test, the exact interval that belongs to it, and the estimate of both."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .bootstrap import CountArray, weighted_median
from .location import FloatArray

IntArray = npt.NDArray[np.int64]


def doubled_ranks(values: Sequence[float]) -> list[int]:
    """Return twice the rank of each value, which is an integer where ties share their mean rank."""
    # NumPy takes several times as long for a handful of values, and a large report has 20,000 handfuls.
    ascending = sorted(values)
    return [bisect_left(ascending, value) + bisect_right(ascending, value) + 1 for value in values]


def sum_distribution(ranks: Iterable[int]) -> FloatArray:
    """Return the probability of every sum, from 0, of the ranks with a positive sign; both signs are equally likely."""
    return _sum_distribution(tuple(sorted(ranks)))


@functools.lru_cache(maxsize=256)
def _sum_distribution(ranks: tuple[int, ...]) -> FloatArray:
    # Kept, as without ties all comparisons of as many pairs have the same ranks.
    probability = np.ones(1)
    for rank in ranks:
        doubled = np.zeros(len(probability) + rank)
        doubled[: len(probability)] = probability
        doubled[rank:] += probability
        probability = doubled / 2.0
    probability.setflags(write=False)
    return probability


def signed_rank_p(differences: FloatArray) -> float:
    """Return the exact two-sided p value of Wilcoxon's signed-rank test of "the differences lie around zero".

    The distribution over all 2ⁿ signs is computed by convolution of the actual ranks, so it is exact with ties and
    with zeros, too. Zeros are ranked, but have no sign (Pratt 1959).
    """
    values = differences.tolist()
    ranks = doubled_ranks([abs(value) for value in values])
    positive = sum(rank for rank, value in zip(ranks, values, strict=True) if value > 0)
    ranks = [rank for rank, value in zip(ranks, values, strict=True) if value != 0]
    total = sum(ranks)
    extreme = max(positive, total - positive)
    return min(1.0, 2.0 * float(sum_distribution(ranks)[extreme:].sum())) if total else 1.0


def hodges_lehmann(values: FloatArray, counts: CountArray) -> FloatArray:
    """Return the median of all pairwise means (Walsh averages, each value with itself included) of each resample.

    It is the estimate that belongs to the signed-rank test (Hodges & Lehmann 1963): it is as robust as the test, and
    nearly as efficient as the mean where the mean is best. A resample has the means of the sample, each a number of
    times: a pair of distinct values as often as the product of their counts, a value with itself c(c+1)/2 times.
    """
    n = values.shape[-1]
    pairs = _pairs(n)
    total = n * (n + 1) // 2
    # The smaller the type, the faster the sums.
    smallest = np.min_scalar_type(total)
    alone, counts = (counts * (counts + 1) // 2).astype(smallest), counts.astype(smallest)

    def weight(pair: int) -> CountArray:
        i, j = pairs[pair]
        return np.asarray(alone[i] if i == j else counts[i] * counts[j])

    return weighted_median(walsh_averages(values), weight, total)


@functools.lru_cache(maxsize=64)
def _pairs(n: int) -> list[tuple[int, int]]:
    first, second = _both(n)
    return list(zip(first.tolist(), second.tolist(), strict=True))


@functools.lru_cache(maxsize=64)
def _both(n: int) -> tuple[IntArray, IntArray]:
    """Return the places of the first and of the second value of each pair."""
    first, second = np.triu_indices(n)
    return first, second


def walsh_averages(values: FloatArray) -> FloatArray:
    """Return the means of all pairs of values, each value with itself included, along the last axis, unordered."""
    first, second = _both(values.shape[-1])
    return np.asarray((values[..., first] + values[..., second]) / 2.0)


@functools.lru_cache(maxsize=256)
def averages_cut(n: int, level: float) -> int:
    """Return how many Walsh averages of ``n`` values lie outside the interval at each end; -1 without an interval."""
    tail = np.cumsum(sum_distribution(range(1, n + 1)))
    return int(np.searchsorted(2.0 * tail, 1.0 - level, side="right")) - 1


def exact_interval(values: FloatArray, level: float) -> tuple[float, float] | None:
    """Return the interval of all centres of symmetry that the signed-rank test at ``1 - level`` accepts.

    Its ends are order statistics of the Walsh averages (Hollander, Wolfe & Chicken 2014, 3.3). It covers the centre
    of any symmetric distribution with at least ``level``, and needs no resampling. For continuous values it excludes
    zero exactly when the test rejects. None where there are too few values: at 99 %, fewer than eight.
    """
    cut = averages_cut(len(values), level)
    if cut < 0:
        return None
    averages = np.sort(walsh_averages(values))
    return float(averages[cut]), float(averages[-1 - cut])
