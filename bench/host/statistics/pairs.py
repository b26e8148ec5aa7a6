"""Compares two cells: log ratios of pairs of processes that took turns, an estimate, and an exact test."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import special

from .bootstrap import LEVEL, Estimate, estimate_each, widen_for_few
from .location import FloatArray, median
from .signed_rank import exact_interval, hodges_lehmann, signed_rank_p

#: The confidence level of the interval that decides: 1 - ``verdict.ALPHA``.
DECIDING_LEVEL = 0.99
#: The quantile of a process's samples by which tails are compared.
TAIL = 0.9

TurnArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Process:
    """The turns that one process took, ascending, and the logarithm of its median seconds per step in each of them."""

    turns: TurnArray
    log_s: FloatArray
    #: The logarithm of every sample, and the turn of each, ascending.
    sample_log_s: FloatArray
    sample_turns: TurnArray
    #: The first turn of the steady state: see ``warmup.steady_turn``.
    steady_turn: int = 0

    @cached_property
    def log_tail(self) -> float:
        """The logarithm of the 90% quantile of the samples; every column of a row is compared with one baseline."""
        return log_tail(self.sample_log_s)


@dataclass(frozen=True)
class Ratio:
    """Time of one cell over the time of another, estimated from pairs, and the p value of "they are equal".

    There are two intervals. That of the estimate, a 95 % bootstrap, says how well the ratio is known; tables show it.
    The deciding one, 99 % and exact, is for a verdict at the 1 % level. It belongs to the signed-rank test, since a
    99 % bootstrap interval of eight pairs with heavy tails covers the ratio in 97.8 % of cases only
    (benchmarks/operating_characteristics.py).
    """

    estimate: Estimate
    p: float
    #: None where there are too few pairs for it.
    deciding: tuple[float, float] | None
    #: Share of the pairs in which a process was disturbed most of the time.
    disturbed: float = 0.0
    #: Whether the time of one of the cells is withheld, as other programs disturbed it: then so is this ratio.
    withheld: bool = False


def by_turn(step_s: FloatArray, turn: TurnArray, steady_turn: int = 0) -> Process:
    """Group the samples of one process, seconds per step, by the turn in which each was taken."""
    return by_turn_each(step_s[np.newaxis], turn, steady_turn)[0]


def by_turn_each(step_s: FloatArray, turn: TurnArray, steady_turn: int) -> list[Process]:
    """Group the samples of processes that took the same turns, a row each; as ``by_turn`` does."""
    order = np.lexsort((step_s, np.broadcast_to(turn, step_s.shape)), axis=-1)
    ordered = np.sort(turn)
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))
    turns, count = ordered[first], np.diff(first, append=len(ordered))
    ascending = np.log(np.take_along_axis(step_s, order, axis=1))
    medians = (ascending[:, first + (count - 1) // 2] + ascending[:, first + count // 2]) / 2.0
    rows = zip(medians, ascending, strict=True)
    return [Process(turns, middle, samples, ordered, steady_turn) for middle, samples in rows]


def common_turns(process: Process, other: Process) -> TurnArray:
    """Return the turns that both processes took, from where both were steady; all of them where none is left.

    The same turns count for both, from the later start of the two. So leaving out earlier turns favours neither, and
    identical cells remain exchangeable. It increases the spread by up to a third where the machine drifts. It removes
    an error of 1 to 3 % where a fifth to two fifths of the samples of one process are a warm-up of 20 %.
    """
    same = process.turns is other.turns or np.array_equal(process.turns, other.turns)
    common = process.turns if same else np.intersect1d(process.turns, other.turns, assume_unique=True)
    start = max(process.steady_turn, other.steady_turn)
    if not len(common) or start <= common[0]:
        return common
    steady = common[common >= start]
    return steady if len(steady) else common


def log_ratio(process: Process, other: Process) -> float | None:
    """Return the log ratio of the times of two processes: the median over their common turns.

    Turns are compared before they are summarised: the machine is equally fast or slow for the two processes in one
    turn, so a slow minute cancels from every turn's ratio. It would move two medians over all turns differently. None
    without a common turn.
    """
    turns = common_turns(process, other)
    if not len(turns):
        return None
    mine, theirs = (_medians_in(one, turns) for one in (process, other))
    return median(mine - theirs)


def _medians_in(process: Process, turns: TurnArray) -> FloatArray:
    """Return the logarithm of the medians of these turns, which are of those that the process took."""
    whole = len(turns) == len(process.turns)
    return process.log_s if whole else np.asarray(process.log_s[np.searchsorted(process.turns, turns)])


def tail_log_ratio(process: Process, other: Process) -> float | None:
    """Return the log ratio of the 90% quantiles of two processes, of all samples in their common turns.

    One turn has too few samples for a tail, so a slow minute cancels only as far as both took the same number of
    samples in it. None without a common turn.
    """
    turns = common_turns(process, other)
    if not len(turns):
        return None
    mine, theirs = (_log_tail_in(one, turns) for one in (process, other))
    return mine - theirs


def log_tail(log_s: FloatArray) -> float:
    """Return the 90% quantile of the samples of a process, as ``np.quantile`` does, in a twentieth of its time."""
    ascending, position = np.sort(log_s), (len(log_s) - 1) * TAIL
    below = int(position)
    lower, upper = float(ascending[below]), float(ascending[min(below + 1, len(log_s) - 1)])
    return (upper - lower) * (position - below) + lower


def _log_tail_in(process: Process, turns: TurnArray) -> float:
    """Return the 90% quantile of the samples in these turns, which are of those that the process took."""
    if len(turns) == len(process.turns):
        return process.log_tail
    places = np.minimum(np.searchsorted(turns, process.sample_turns), len(turns) - 1)
    return log_tail(process.sample_log_s[turns[places] == process.sample_turns])


def pair_log_ratios(
    cell: Mapping[Hashable, Process],
    baseline: Mapping[Hashable, Process],
    of: Callable[[Process, Process], float | None] = log_ratio,
) -> tuple[list[Hashable], FloatArray]:
    """Return the keys of the pairs and the log ratio of each, cell over baseline.

    Processes with the same key ran at the same time and took turns. ``of`` computes the log ratio of a pair.
    """
    keys = sorted(set(cell) & set(baseline), key=repr)
    ratios = {key: of(cell[key], baseline[key]) for key in keys}
    found = {key: ratio for key, ratio in ratios.items() if ratio is not None}
    return list(found), np.array(list(found.values()))


def tail_log_ratios(
    cell: Mapping[Hashable, Process], baseline: Mapping[Hashable, Process]
) -> tuple[list[Hashable], FloatArray]:
    """Return the keys of the pairs and the log ratio of the 90% quantiles of each, cell over baseline."""
    return pair_log_ratios(cell, baseline, tail_log_ratio)


def estimate_ratio(log_ratios: FloatArray) -> Estimate:
    """Estimate the ratio from the log ratios of its pairs, with the interval that tables show."""
    return estimate_ratios([log_ratios])[0]


def estimate_ratios(each: Sequence[FloatArray]) -> list[Estimate]:
    """Estimate many ratios, each as ``estimate_ratio`` does, those with equally few pairs together."""
    found = []
    for log_ratios, log in zip(each, estimate_each(each, hodges_lehmann), strict=True):
        low, high = (None if bound is None else math.exp(bound) for bound in (log.low, log.high))
        found.append(widen_for_few(Estimate(math.exp(log.value), low, high, log.n), log_ratios))
    return found


def excludes_equality(ratio: Estimate, comparisons: int = 1) -> bool:
    """Tell whether the interval of a ratio excludes 1 where it is widened to hold for so many comparisons together.

    Bonferroni's correction: each end moves away as far as Student's quantile grows. Without it, one of many intervals
    excludes equality by chance, and it is the one that is told.
    """
    if ratio.low is None or ratio.high is None or ratio.low <= 1.0 <= ratio.high:
        return False
    tail, log = (1.0 - LEVEL) / 2.0, math.log(ratio.value)
    wider = float(special.stdtrit(ratio.n - 1, tail / comparisons) / special.stdtrit(ratio.n - 1, tail))
    reach = log - math.log(ratio.low) if log > 0.0 else math.log(ratio.high) - log
    return abs(log) > wider * reach


def deciding_interval(log_ratios: FloatArray, level: float = DECIDING_LEVEL) -> tuple[float, float] | None:
    """Return the exact interval of the ratio; None where there are too few pairs for this level."""
    found = exact_interval(log_ratios, level)
    return (math.exp(found[0]), math.exp(found[1])) if found else None


def compare(log_ratios: FloatArray) -> Ratio:
    """Estimate the ratio of two cells from the log ratios of their pairs, of which there must be at least one."""
    return Ratio(estimate_ratio(log_ratios), signed_rank_p(log_ratios), deciding_interval(log_ratios))
