"""Tests whether factors are beyond a limit: over workloads where there are enough, else over pairs of processes."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..statistics.bootstrap import Estimate
from ..statistics.location import FloatArray
from ..statistics.means import estimate_mean, mean_p
from ..statistics.signed_rank import signed_rank_p, walsh_averages
from ..statistics.stopping import attainable
from ..statistics.verdict import ALPHA, minimum_pairs
from .claim_factors import RowFactor
from .comparisons import Reached


class Why(enum.Enum):
    """Why a claim is open."""

    UNSETTLED = "no measurement of ours settles it"
    NOT_MEASURED = "not measured"
    FEW = "too few workloads, and too few pairs of processes"
    PART = "too few workloads for a claim about all"
    MIXED = "the workloads disagree"
    FEW_PAIRS = "too few pairs of processes for the corrected level"
    UNCERTAIN = "not certain at the corrected level"
    CLOSE = "too close to decide"


@dataclass(frozen=True)
class Shortage:
    """How many pairs of processes a row has, and how many rounds can give a p value that is small enough."""

    pairs: int
    #: The first look of the run that can; None where none can.
    look: int | None
    #: Rounds of a run whose only look is after the last one.
    rounds: int


@dataclass(frozen=True)
class LogLimit:
    """The log factor that a claim says the factor lies beyond."""

    value: float
    above: bool
    #: A factor that is nearer to the limit than this, in logarithms, is on no side of it for certain: noise of the run.
    noise: float = 0.0

    def holds(self, log: float) -> bool:
        return log > self.value if self.above else log < self.value

    def end_towards(self, log: float) -> float | None:
        """Return what a log factor must differ from to lie certainly on its side; None where noise can place it."""
        distance = log - self.value
        return None if self.noise and abs(distance) <= self.noise else self.value + math.copysign(self.noise, distance)


@dataclass(frozen=True)
class LimitTest:
    """The p value of "the factor is at the limit", and whether the factor lies where the claim says."""

    p: float
    holds: bool
    #: Why the claim is open where the p value is not small enough.
    why: Why
    #: What is missing where there are too few pairs.
    shortage: Shortage | None = None


def by_workload(rows: Sequence[RowFactor]) -> dict[str, float]:
    """Return the mean log factor of each workload: its sizes and precisions are no workloads of their own."""
    logs: dict[str, list[float]] = {}
    for row in rows:
        logs.setdefault(row.cell.workload, []).append(math.log(row.factor.value))
    return {workload: math.fsum(own) / len(own) for workload, own in logs.items()}


def decide_limit(
    rows: Sequence[RowFactor],
    limit: LogLimit,
    reached: Mapping[str, Reached],
    *,
    tests: int,
    up_to: bool,
    general: bool,
) -> LimitTest:
    """Test a limit over workloads where there are enough of them, or else over the pairs of every row.

    Enough can give a p value that is small enough after the correction for so many ``tests``. With ``up_to``, one row
    beyond a lower limit is enough. A ``general`` claim is about all workloads: pairs of processes in a few of them do
    not answer it.
    """
    needed = minimum_pairs(ALPHA, 1.0 / tests)
    means = np.array(list(by_workload(rows).values()))
    over_workloads = _over_workloads(means, limit) if len(means) >= needed else None
    best = up_to and limit.above
    if over_workloads is not None and not best:
        return over_workloads
    if general and not best:
        return LimitTest(1.0, limit.holds(float(means.mean())), Why.PART)
    # The best of several rows is chosen by these very data.
    family = tests * len(rows) if best else tests
    each = [_over_pairs(row, limit, reached[row.cell.row], family) for row in rows]
    few = any(row.factor.n < needed and not row.counted for row in rows)
    if best:
        found = _best(each, over_workloads)
    elif len({test.holds for test in each}) > 1:
        found = LimitTest(1.0, limit.holds(float(means.mean())), Why.MIXED)
    else:
        found = max(each, key=lambda test: test.p)
    if not few:
        return found
    # Where the mean of enough workloads leaves an "up to" open, the pairs of one of them can answer it.
    paired = minimum_pairs(ALPHA, 1.0 / family)
    pairs = max(needed if row.pairs is None else paired for row in rows)
    lacks = None if over_workloads is None else Shortage(min(row.factor.n for row in rows), None, pairs)
    return replace(found, why=Why.FEW, shortage=lacks)


def _over_pairs(row: RowFactor, limit: LogLimit, reached: Reached, tests: int) -> LimitTest:
    """Test the factor of one row by its pairs of processes, after the correction for so many ``tests``."""
    log = math.log(row.factor.value)
    end, holds = limit.end_towards(log), limit.holds(log)
    p = 1.0 if end is None else row.p_of(end, reached)
    if end is None or _touches(row.factor, end):
        return LimitTest(p, holds, Why.CLOSE)
    if row.least_p(reached) * tests <= ALPHA:
        return LimitTest(p, holds, Why.UNCERTAIN)
    can = zip(reached.looks, attainable(reached.looks, ALPHA / tests), strict=True)
    look = next((look for look, possible in can if possible and look > row.factor.n), None)
    shortage = Shortage(row.factor.n, look, minimum_pairs(ALPHA, 1.0 / tests))
    return LimitTest(p, holds, Why.FEW_PAIRS, shortage)


def _touches(factor: Estimate, end: float) -> bool:
    """Tell whether the interval of a factor holds a log factor; without an interval it may."""
    if factor.low is None or factor.high is None:
        return True
    return math.log(factor.low) <= end <= math.log(factor.high)


def _over_workloads(means: FloatArray, limit: LogLimit) -> LimitTest:
    """Test the log factors of workloads by the exact signed-rank test and by Student's; both must find the same.

    The first assumes nothing of the factors but symmetry, without which it is not about their mean. The second is about
    the mean, so that an answer never contradicts the interval beside it.
    """
    mean, middle = float(means.mean()), float(np.median(walsh_averages(means)))
    end, holds = limit.end_towards(mean), limit.holds(mean)
    if end is None:
        return LimitTest(1.0, holds, Why.CLOSE)
    same = (mean > end) == (middle > end)
    p = max(signed_rank_p(means - end), mean_p(means, end)) if same else 1.0
    interval = estimate_mean(means)
    assert interval.low is not None
    assert interval.high is not None
    close = interval.low <= end <= interval.high
    return LimitTest(p, holds, Why.CLOSE if close else Why.UNCERTAIN)


def _best(each: Sequence[LimitTest], over_workloads: LimitTest | None) -> LimitTest:
    """Test whether the best row is beyond a limit: it is where one row is, or the mean; it is not where none is."""
    holding = [test for test in each if test.holds]
    if not holding:
        return max(each, key=lambda test: test.p)
    best = min(holding, key=lambda test: test.p)
    # One of several was chosen by these very data.
    p = min(1.0, best.p * len(each))
    if over_workloads is not None and over_workloads.holds:
        p = min(p, over_workloads.p)
    return replace(best, p=p)
