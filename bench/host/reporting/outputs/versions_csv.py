"""Writes ``versions.csv``: a row for each quantity of each version, against the version before and the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point, Step, VersionVerdict
from ...analysis.releases import Release
from ...analysis.versions import Versions, versions_of
from ..renderers import csv
from ..renderers.csv import Value

NAME = "versions.csv"


@dataclass(frozen=True)
class VersionRow:
    course: Course
    point: Point
    #: ``before`` or ``baseline``; empty for a version that is compared with nothing.
    against: str
    step: Step | None
    packages: Versions

    @property
    def release(self) -> Release:
        return self.point.release

    def coordinate(self, name: str) -> Value:
        """Return a coordinate of the row; what an environment has whatever it computes has none."""
        return "" if self.course.quantity.of_environment else getattr(self.course.line.cell, name)

    def package(self, name: str) -> str:
        return " ".join(self.packages.get(self.release.environment, {}).get(name, ()))


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
                yield VersionRow(course, point, against, step, packages)
            if not known:
                yield VersionRow(course, point, "", None, packages)
