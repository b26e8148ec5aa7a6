"""Knows how two cells are compared: log ratios of pairs of processes that took turns, an estimate and an exact test."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .bootstrap import SEED, CountArray, Estimate, estimate, weighted_median
from .location import FloatArray


@dataclass(frozen=True, eq=False)
class Process:
    """The turns that one process took, ascending, and the logarithm of its median seconds per step in each."""

    turns: npt.NDArray[np.int64]
    log_s: FloatArray


@dataclass(frozen=True)
class Ratio:
    """Time of one cell over the time of another, estimated from pairs, and the p value of "they are equal"."""

    estimate: Estimate
    p: float


def by_turn(step_s: FloatArray, turn: npt.NDArray[np.int64]) -> Process:
    """Group the samples of one process, seconds per step, by the turn in which each was taken."""
    order = np.lexsort((step_s, turn))
    turns, first, count = np.unique(turn[order], return_index=True, return_counts=True)
    ascending = np.log(step_s[order])
    return Process(turns, (ascending[first + (count - 1) // 2] + ascending[first + count // 2]) / 2.0)


def log_ratio(process: Process, other: Process) -> float | None:
    """Return the log ratio of the times of two processes: the median over the turns that both took.

    Turns are compared before they are summarised, since a turn's neighbours in time share the machine's mood: a slow
    minute cancels from every turn's ratio, but moves two medians over all turns differently. None without a common
    turn.
    """
    if np.array_equal(process.turns, other.turns):
        return float(np.median(process.log_s - other.log_s))
    _, mine, theirs = np.intersect1d(process.turns, other.turns, assume_unique=True, return_indices=True)
    return float(np.median(process.log_s[mine] - other.log_s[theirs])) if len(mine) else None


def pair_log_ratios(
    cell: Mapping[Hashable, Process], baseline: Mapping[Hashable, Process]
) -> tuple[list[Hashable], FloatArray]:
    """Return the keys of the pairs and the log ratio of each, cell over baseline.

    Processes with the same key lived at the same time and took turns.
    """
    keys = sorted(set(cell) & set(baseline), key=repr)
    ratios = {key: log_ratio(cell[key], baseline[key]) for key in keys}
    found = {key: ratio for key, ratio in ratios.items() if ratio is not None}
    return list(found), np.array(list(found.values()))


def hodges_lehmann(values: FloatArray, counts: CountArray) -> FloatArray:
    """Return the median of all pairwise means (Walsh averages, each value with itself included) of each resample.

    It is the estimate that belongs to the signed-rank test (Hodges & Lehmann 1963): as robust, and nearly as efficient
    as the mean where the mean is best. A resample has the same means as the sample, only more or less often: a pair of
    distinct values as often as the product of their counts, a value with itself c(c+1)/2 times.
    """
    n = len(values)
    first, second = np.triu_indices(n)
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    alone = counts * (counts + 1) // 2

    def weight(pair: int) -> CountArray:
        i, j = pairs[pair]
        return np.asarray(alone[i] if i == j else counts[i] * counts[j])

    return weighted_median((values[first] + values[second]) / 2.0, weight, n * (n + 1) // 2)


def doubled_ranks(values: FloatArray) -> npt.NDArray[np.int64]:
    """Return twice the rank of each value, which is an integer where ties share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray(2 * last - counts + 1, dtype=np.int64)[inverse]


def signed_rank_p(differences: FloatArray) -> float:
    """Return the exact two-sided p value of Wilcoxon's signed-rank test of "the differences lie around zero".

    The distribution over all 2ⁿ signs is computed by convolution with the ranks at hand, so it is exact with ties and
    with zeros too; zeros are ranked and then carry no sign (Pratt 1959).
    """
    ranks = doubled_ranks(np.abs(differences))
    positive = int(ranks[differences > 0].sum())
    ranks = ranks[differences != 0]
    total = int(ranks.sum())
    probability = np.zeros(total + 1)
    probability[0] = 1.0
    for rank in ranks:
        shifted = np.zeros_like(probability)
        shifted[rank:] = probability[: total + 1 - rank]
        probability = (probability + shifted) / 2.0
    extreme = max(positive, total - positive)
    return min(1.0, 2.0 * float(probability[extreme:].sum())) if total else 1.0


def compare(log_ratios: FloatArray, *, seed: int = SEED) -> Ratio:
    """Estimate the ratio of two cells from the log ratios of their pairs, of which there must be at least one."""
    log = estimate(log_ratios, hodges_lehmann, seed=seed)
    low, high = (None if bound is None else math.exp(bound) for bound in (log.low, log.high))
    return Ratio(Estimate(math.exp(log.value), low, high, log.n), signed_rank_p(log_ratios))
