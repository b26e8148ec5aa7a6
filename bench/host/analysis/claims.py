"""Answers the claims of a study: whether the results of a run support, refute or leave open what a sentence says.

A claim is decided at 1 %, corrected for all claims of the study (Holm). Where enough workloads are compared, they are
the units: a claim over workloads is about workloads that were not measured, too. Where they are few, pairs of processes
are the units, and all of the workloads must agree. With too few of both, a claim stays open, however clear it looks. A
claim that names no workloads is about all, and a few do not answer it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..statistics.bootstrap import WIDEST, Estimate
from ..statistics.means import estimate_mean
from ..statistics.verdict import ALPHA, THRESHOLD, adjust_for_claims, minimum_pairs
from ..storage.manifest import Manifest
from ..study import factor_range
from ..study.claim import STEP, WARM_START, Claim
from .claim_columns import compared_columns, compared_results, unmeasured
from .claim_factors import RowFactor, factors
from .claim_tests import LimitTest, LogLimit, Shortage, Why, by_workload, decide_limit
from .comparisons import Reached
from .results import Result
from .run_analysis import Analysis
from .speed_ups import FEWEST_ROWS


class Answer(enum.Enum):
    """What the data say about a claim."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    OPEN = "open"


@dataclass(frozen=True)
class Versus:
    """One column compared with another one, for one claim."""

    column: str
    against: str
    rows: tuple[RowFactor, ...]
    #: Geometric mean of the factors over the workloads, with Student's interval; ``n`` counts workloads.
    factor: Estimate
    #: The largest factor, which counts where a claim says "up to".
    best: RowFactor
    #: Workloads whose factor is what the claim says.
    agreeing: int
    answer: Answer = Answer.OPEN
    why: Why | None = None
    #: What is missing where there are too few pairs of processes.
    shortage: Shortage | None = None

    @property
    def pairs(self) -> int:
        """Return the fewest pairs of processes of a row."""
        return min(row.factor.n for row in self.rows)

    def shown(self, claim: Claim) -> Estimate:
        """Return the factor that the claim is about: the mean, or the largest."""
        return self.best.factor if claim.up_to else self.factor


@dataclass(frozen=True)
class AnsweredClaim:
    """What a run says about one claim."""

    claim: Claim
    answer: Answer
    why: Why | None
    #: Each column with each that it is compared with.
    versus: tuple[Versus, ...] = ()
    #: The comparison on which the answer rests.
    deciding: Versus | None = None
    #: The patterns for which the run has no result.
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class AnsweredClaims:
    """What a run says about the claims of a study."""

    claims: tuple[AnsweredClaim, ...]
    #: Tests that were adjusted together.
    tests: int
    #: Workloads, or else pairs of processes, that an answer needs at least.
    needed: int


def answer(claims: Iterable[Claim], analysis: Analysis, manifest: Manifest) -> AnsweredClaims:
    """Answer claims by the results of a run; those of a trial have no times, and leave everything open."""
    results = analysis.results
    floor = analysis.noise.fraction
    drafts = [
        (claim, limits_of(claim, floor), _compare(claim, results) if _is_measured(claim, manifest) else [])
        for claim in claims
    ]
    count = sum(len(versus) * len(limits) for _claim, limits, versus in drafts)
    reached = Reached.of_each(results if drafts else (), manifest)
    tests = [
        decide_limit(one.rows, limit, reached, tests=count, up_to=claim.up_to, general=not claim.workloads)
        for claim, limits, versus in drafts
        for one in versus
        for limit in limits
    ]
    adjusted = iter(adjust_for_claims(np.array([test.p for test in tests])).tolist())
    tested = iter(tests)
    found = []
    for claim, limits, versus in drafts:
        judged = [_judge(one, [(next(tested), next(adjusted)) for _ in limits]) for one in versus]
        found.append(_conclude(claim, limits, judged))
    return AnsweredClaims(tuple(found), count, minimum_pairs(ALPHA, 1.0 / max(1, count)))


def _is_measured(claim: Claim, manifest: Manifest) -> bool:
    """Tell whether a run measures what a claim is about: a trial measures nothing, kept caches are never empty."""
    kept = claim.quantity == WARM_START and manifest.profile.compile_cache == "kept"
    return not manifest.profile.trial and not kept


def limits_of(claim: Claim, floor: float = 0.0) -> tuple[LogLimit, ...]:
    """Return the ends of a claim's range; ``floor`` is the noise floor of the run's times, a fraction.

    A large floor makes answers harder on both sides. If it moved the ends, noise would refute "> 1" and support ">= 1".
    """
    noise = max(0.0, math.log1p(floor) - math.log1p(THRESHOLD)) if claim.quantity == STEP else 0.0
    ends = () if claim.factor is None else factor_range.parse(claim.factor)
    return tuple(LogLimit(end.log_beyond(THRESHOLD), end.above, noise) for end in ends)


def _compare(claim: Claim, results: Sequence[Result]) -> list[Versus]:
    """Compare every column of a claim with every one that it names against them, where they have rows in common."""
    found = []
    for column, against in compared_columns(claim, results):
        rows = factors(compared_results(claim, column, against, results), claim.quantity)
        if rows:
            best = max(rows, key=lambda row: row.factor.value)
            means = list(by_workload(rows).values())
            agreeing = sum(all(limit.holds(mean) for limit in limits_of(claim)) for mean in means)
            found.append(Versus(column, against, tuple(rows), _mean(means, rows), best, agreeing))
    return found


def _mean(means: Sequence[float], rows: Sequence[RowFactor]) -> Estimate:
    """Return the geometric mean over workloads, of few without an interval; of a single row, its own estimate."""
    if len(rows) == 1:
        return replace(rows[0].factor, n=1)
    found = estimate_mean(np.array(means))
    value, widest = math.exp(found.value), math.log(WIDEST)
    if found.low is None or found.high is None or len(means) < FEWEST_ROWS:
        return Estimate(value, None, None, len(means))
    reach = math.exp(min(widest, (found.high - found.low) / 2.0))
    return Estimate(value, value / reach, value * reach, len(means))


def _judge(versus: Versus, tests: Sequence[tuple[LimitTest, float]]) -> Versus:
    """Give the answer of one comparison, from the test of each end of the range and its adjusted p value."""
    certain = [test for test, p in tests if p <= ALPHA]
    if any(not test.holds for test in certain):
        return replace(versus, answer=Answer.REFUTED)
    if len(certain) == len(tests):
        return replace(versus, answer=Answer.SUPPORTED)
    # A test that does not hold could refute the claim; the others only support it.
    open_ = min((test for test, p in tests if p > ALPHA), key=lambda test: test.holds)
    return replace(versus, why=open_.why, shortage=open_.shortage)


def _conclude(claim: Claim, limits: Sequence[LogLimit], versus: Sequence[Versus]) -> AnsweredClaim:
    """Give the answer of a claim: it must hold in all of its comparisons, and fails in one."""
    if claim.unsettled is not None:
        return AnsweredClaim(claim, Answer.OPEN, Why.UNSETTLED)
    missing = unmeasured(claim, [(one.column, one.against) for one in versus])
    if not versus:
        return AnsweredClaim(claim, Answer.OPEN, Why.NOT_MEASURED, missing=missing)
    answers = {one.answer for one in versus}
    if Answer.REFUTED in answers:
        found, why = Answer.REFUTED, None
    elif answers == {Answer.SUPPORTED} and not missing:
        found, why = Answer.SUPPORTED, None
    else:
        found = Answer.OPEN
        why = next((one.why for one in versus if one.why is not None), Why.NOT_MEASURED)
    # An open claim whose comparisons all support it lacks some.
    speaking = [one for one in versus if one.answer is found] or list(versus)
    deciding = min(speaking, key=lambda one: _margin(claim, limits, one))
    return AnsweredClaim(claim, found, why, tuple(versus), deciding, missing)


def _margin(claim: Claim, limits: Sequence[LogLimit], versus: Versus) -> float:
    """Return how far inside the claim's range a factor lies, as a logarithm; negative outside."""
    log = math.log(versus.shown(claim).value)
    return min((log - limit.value) * (1.0 if limit.above else -1.0) for limit in limits)
