"""Judges how versions compare: the verdicts on all comparisons of one quantity are given together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ..statistics.bootstrap import Estimate
from ..statistics.pairs import Ratio
from ..statistics.verdict import ALPHA, THRESHOLD, Verdict, adjust_for_claims, decide
from ..storage.manifest import SETTLED
from .release_values import Quantity
from .releases import Line, Release


class VersionVerdict(Enum):
    """The verdict on a version compared with another; a lack of evidence is never *same*."""

    MORE = "more"
    LESS = "less"
    SAME = "same"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Step:
    """A version over another one."""

    other: Release
    ratio: Ratio
    #: By Holm, over all comparisons of the quantity. None where there are too few pairs, …
    adjusted_p: float | None = None
    #: … as the verdict is.
    change: VersionVerdict | None = None

    def lacks_pairs(self, floor: float) -> bool:
        """Tell whether more pairs can make a difference certain: the interval excludes equality, the estimate is beyond
        the noise ``floor``, and too few pairs or the adjusted p value leave the verdict open.
        """
        estimate = self.ratio.estimate
        excludes = estimate.low is not None and estimate.high is not None and not estimate.low <= 1.0 <= estimate.high
        beyond = abs(math.log(estimate.value)) > max(math.log1p(floor), math.log1p(THRESHOLD) / 2.0)
        uncertain = self.change is VersionVerdict.UNCLEAR and self.adjusted_p is not None and self.adjusted_p > ALPHA
        return excludes and beyond and (self.change is None or uncertain)


@dataclass(frozen=True)
class Point:
    """A quantity of one version, and how it compares."""

    release: Release
    value: Estimate | None
    before: Step | None = None
    baseline: Step | None = None


@dataclass(frozen=True)
class Course:
    """A quantity over the versions of a line, oldest first."""

    quantity: Quantity
    line: Line
    #: What the versions are compared with beside the version before; None where no version has a value.
    baseline: Release | None
    points: tuple[Point, ...]


def settled_too_early(courses: Iterable[Course], floor: float) -> list[Step]:
    """Return the comparisons that lack pairs because a cell stopped when its verdict in the run was settled.

    That verdict is about the baseline of the run, and corrected for other comparisons than those of versions. ``floor``
    is the noise floor of the run.
    """
    found = {
        (id(course.line), point.release.environment, step.other.environment): step
        for course in courses
        for point in course.points
        for step in (point.before, point.baseline)
        if step is not None and step.lacks_pairs(floor) and SETTLED in (_stop(point.release), _stop(step.other))
    }
    return list(found.values())


def _stop(release: Release) -> str:
    return "" if release.result.stop is None else release.result.stop.why


def steps_of(courses: Iterable[Course]) -> Iterator[Step]:
    for course in courses:
        for point in course.points:
            yield from (step for step in (point.before, point.baseline) if step is not None)


def distinct(courses: Iterable[Course]) -> dict[tuple[int, str, str], Step]:
    """Return each comparison once: that of the second version with the baseline can be that with the one before."""
    return {
        (id(course.line), point.release.environment, step.other.environment): step
        for course in courses
        for point in course.points
        for step in (point.before, point.baseline)
        if step is not None
    }


def judged(courses: Sequence[Course], floor: float) -> list[Course]:
    """Add the verdicts to the courses of one quantity; ``floor`` is the noise floor of the run, as a fraction."""
    compared = distinct(courses)
    adjusted = adjust_for_claims(np.array([step.ratio.p for step in compared.values()])).tolist()
    p_of = dict(zip(compared, adjusted, strict=True))

    def judge(course: Course, release: Release, step: Step | None) -> Step | None:
        if step is None:
            return None
        p = p_of[id(course.line), release.environment, step.other.environment]
        return _judge(step, p, floor, course.quantity)

    return [
        replace(
            course,
            points=tuple(
                replace(
                    point,
                    before=judge(course, point.release, point.before),
                    baseline=judge(course, point.release, point.baseline),
                )
                for point in course.points
            ),
        )
        for course in courses
    ]


def _judge(step: Step, adjusted_p: float, floor: float, quantity: Quantity) -> Step:
    ratio = step.ratio.estimate.value
    if quantity is Quantity.DISK:
        # It was counted, not measured: there is nothing to test.
        same = 1.0 / (1.0 + THRESHOLD) < ratio < 1.0 + THRESHOLD
        return replace(step, change=VersionVerdict.SAME if same else _direction(ratio))
    verdict = decide(step.ratio, adjusted_p, floor=floor)
    if verdict is None:
        return step
    changes = {
        Verdict.DIFFERENT: _direction(ratio),
        Verdict.EQUIVALENT: VersionVerdict.SAME,
        Verdict.INCONCLUSIVE: VersionVerdict.UNCLEAR,
    }
    return replace(step, adjusted_p=adjusted_p, change=changes[verdict])


def _direction(ratio: float) -> VersionVerdict:
    return VersionVerdict.MORE if ratio > 1.0 else VersionVerdict.LESS
