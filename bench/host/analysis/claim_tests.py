"""Tests whether factors are beyond a limit: over workloads where there are enough, else over pairs of processes."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..statistics.location import FloatArray
from ..statistics.means import mean_p
from ..statistics.signed_rank import signed_rank_p, walsh_averages
from .claim_factors import RowFactor
from .comparisons import Reached


class Why(enum.Enum):
    """Why a claim is open."""

    UNSETTLED = "no measurement of ours settles it"
    NOT_MEASURED = "not measured"
    FEW = "too few workloads, and too few pairs of processes"
    PART = "too few workloads for a claim about all"
    MIXED = "the workloads disagree"
    CLOSE = "too close to decide"


@dataclass(frozen=True)
class LogLimit:
    """The log factor that a claim says the factor lies beyond."""

    value: float
    above: bool

    def holds(self, log: float) -> bool:
        return log > self.value if self.above else log < self.value


@dataclass(frozen=True)
class LimitTest:
    """The p value of "the factor is at the limit", and whether the factor lies where the claim says."""

    p: float
    holds: bool
    #: Why the claim is open where the p value is not small enough.
    why: Why = Why.CLOSE


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
    needed: int,
    up_to: bool,
    general: bool,
) -> LimitTest:
    """Test a limit; ``needed`` workloads, or else pairs in every row, can give a p value that is small enough.

    With ``up_to``, one row beyond a lower limit is enough. A ``general`` claim is about all workloads: pairs of
    processes in a few of them do not answer it.
    """
    means = np.array(list(by_workload(rows).values()))
    over_workloads = _over_workloads(means, limit) if len(means) >= needed else None
    best = up_to and limit.above
    if over_workloads is not None and not best:
        return over_workloads
    if general and not best:
        return LimitTest(1.0, limit.holds(float(means.mean())), Why.PART)
    each = [
        LimitTest(row.p_of(limit.value, reached[row.cell.row]), limit.holds(math.log(row.factor.value))) for row in rows
    ]
    why = Why.FEW if any(row.factor.n < needed and not row.counted for row in rows) else Why.CLOSE
    if best:
        return _best(each, over_workloads, why)
    if len({test.holds for test in each}) > 1:
        return LimitTest(1.0, limit.holds(float(means.mean())), Why.MIXED if why is Why.CLOSE else why)
    return LimitTest(max(test.p for test in each), each[0].holds, why)


def _over_workloads(means: FloatArray, limit: LogLimit) -> LimitTest:
    """Test the log factors of workloads by the exact signed-rank test and by Student's; both must find the same.

    The first assumes nothing of the factors but symmetry, without which it is not about their mean. The second is about
    the mean, so that an answer never contradicts the interval beside it.
    """
    mean, middle = float(means.mean()), float(np.median(walsh_averages(means)))
    same = limit.holds(mean) == limit.holds(middle)
    p = max(signed_rank_p(means - limit.value), mean_p(means, limit.value)) if same else 1.0
    return LimitTest(p, limit.holds(mean))


def _best(each: Sequence[LimitTest], over_workloads: LimitTest | None, why: Why) -> LimitTest:
    """Test whether the best row is beyond a limit: it is where one row is, or the mean; it is not where none is."""
    holding = [test.p for test in each if test.holds]
    if not holding:
        return LimitTest(max(test.p for test in each), False, why)
    # One of several was chosen by these very data.
    p = min(1.0, min(holding) * len(each))
    if over_workloads is not None and over_workloads.holds:
        p = min(p, over_workloads.p)
    return LimitTest(p, True, why)
