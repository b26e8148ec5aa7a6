"""Writes ``versions.csv``: a row for each quantity of each version, against the version before and the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point, Step, VersionVerdict
from ...analysis.releases import Release
from ...analysis.versions import Versions, versions_of
from ...statistics.bootstrap import Estimate
from ..renderers import csv
from ..renderers.csv import Value

NAME = "versions.csv"
#: Whether first calls had compiled code at hand.
CACHES = ("cold", "warm")


@dataclass(frozen=True)
class VersionRow:
    course: Course
    point: Point
    #: ``before`` or ``baseline``; empty for a version that is compared with nothing.
    against: str
    step: Step | None
    packages: Versions
    history: History

    @property
    def release(self) -> Release:
        return self.point.release

    def break_even(self, cache: str) -> Estimate | None:
        steps = self.course.quantity is Quantity.STEP
        return self.history.break_even(self.release, self.step, cache) if steps else None

    def coordinate(self, name: str) -> Value:
        """Return a coordinate of the row; what an environment has whatever it computes has none."""
        return "" if self.course.quantity.of_environment else getattr(self.course.line.cell, name)

    def package(self, name: str) -> str:
        return " ".join(self.packages.get(self.release.environment, {}).get(name, ()))


def _break_even(cache: str, part: str, row: VersionRow) -> Value:
    found = row.break_even(cache)
    return None if found is None else getattr(found, part)


FIELDS: dict[str, Callable[[VersionRow], Value]] = {
    "family": lambda row: row.course.line.family,
    "workload": lambda row: row.coordinate("workload"),
    "size": lambda row: row.coordinate("size"),
    "precision": lambda row: row.coordinate("precision"),
    "device": lambda row: row.coordinate("device"),
    "threads": lambda row: row.coordinate("threads"),
    "mode": lambda row: row.coordinate("mode"),
    "quantity": lambda row: row.course.quantity.value,
    "version": lambda row: row.release.version,
    "environment": lambda row: row.release.environment,
    "python": lambda row: row.package("python"),
    "numpy": lambda row: row.package("numpy"),
    "status": lambda row: row.release.status,
    "reason": lambda row: None if row.release.usable else row.release.result.reason,
    "value": lambda row: row.point.value.value if row.point.value else None,
    "value_low": lambda row: row.point.value.low if row.point.value else None,
    "value_high": lambda row: row.point.value.high if row.point.value else None,
    "against": lambda row: row.against,
    "other_version": lambda row: row.step.other.version if row.step else None,
    "other_environment": lambda row: row.step.other.environment if row.step else None,
    "ratio": lambda row: row.step.ratio.estimate.value if row.step else None,
    "ratio_low": lambda row: row.step.ratio.estimate.low if row.step else None,
    "ratio_high": lambda row: row.step.ratio.estimate.high if row.step else None,
    "pairs": lambda row: row.step.ratio.estimate.n if row.step else None,
    "p": lambda row: row.step.ratio.p if row.step and row.step.change and row.step.adjusted_p is not None else None,
    "adjusted_p": lambda row: row.step.adjusted_p if row.step else None,
    "verdict": lambda row: verdict(row.step.change, row.course.quantity) if row.step and row.step.change else None,
    **{
        f"{cache}_break_even_{name}": partial(_break_even, cache, part)
        for cache in CACHES
        for name, part in {"steps": "value", "low": "low", "high": "high"}.items()
    },
}


def verdict(change: VersionVerdict, quantity: Quantity) -> str:
    """Name a verdict, in English whatever the language of the report."""
    names = {VersionVerdict.MORE: ("slower", "larger"), VersionVerdict.LESS: ("faster", "smaller")}
    return names[change][not quantity.is_time] if change in names else change.value


def render(history: History) -> str:
    return csv.render(FIELDS, _rows(history))


def _rows(history: History) -> Iterator[VersionRow]:
    packages = versions_of(history.analysis.results)
    for course in history.courses:
        for point in course.points:
            steps = {"before": point.before, "baseline": point.baseline}
            known = {against: step for against, step in steps.items() if step is not None}
            for against, step in known.items():
                yield VersionRow(course, point, against, step, packages, history)
            if not known:
                yield VersionRow(course, point, "", None, packages, history)
