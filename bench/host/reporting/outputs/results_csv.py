"""Writes ``results.csv``: one row per cell with what most readers need, in SI units; docs/columns.md has the fields.

Numbers that must not be used are empty: times that other programs disturbed, and speed-ups over such a time.
``details.csv`` has every figure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...analysis.baselines import baselines_of
from ...analysis.results import Result
from ...analysis.speed_ups import ComparedCell, compare_row
from ...analysis.versions import version_of
from ...statistics.bootstrap import Estimate
from ..renderers import csv
from ..renderers.csv import Value
from ..tables.rows import rows_of
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "results.csv"


@dataclass(frozen=True)
class Row:
    result: Result
    #: None where nothing of the baseline was measured.
    compared: ComparedCell | None

    @property
    def time(self) -> Estimate | None:
        return self.compared.time if self.compared else None

    @property
    def speed_up(self) -> Estimate | None:
        return self.compared.speed_up if self.compared else None


def _version(row: Row) -> str | None:
    result = row.result
    return version_of(result.names, (record.versions for record in result.records)) or None


def _part(of: Callable[[Row], Estimate | None], attribute: str) -> Callable[[Row], Value]:
    return lambda row: getattr(of(row), attribute, None)


FIELDS: dict[str, Callable[[Row], Value]] = {
    "workload": lambda row: row.result.cell.workload,
    "size": lambda row: row.result.cell.size,
    "precision": lambda row: row.result.cell.precision,
    "device": lambda row: row.result.cell.device,
    "threads": lambda row: row.result.cell.threads,
    "environment": lambda row: row.result.cell.environment,
    "framework": lambda row: row.result.cell.framework,
    "version": _version,
    "mode": lambda row: row.result.cell.mode,
    "status": lambda row: row.result.status,
    "quality": lambda row: row.compared.grade.value if row.compared and row.compared.grade else None,
    "processes": lambda row: len(row.result.timed),
    "step_s": _part(lambda row: row.time, "value"),
    "step_low_s": _part(lambda row: row.time, "low"),
    "step_high_s": _part(lambda row: row.time, "high"),
    "speed_up": _part(lambda row: row.speed_up, "value"),
    "speed_up_low": _part(lambda row: row.speed_up, "low"),
    "speed_up_high": _part(lambda row: row.speed_up, "high"),
    # Without a speed-up, as where other programs disturbed the baseline, a verdict is withheld, too.
    "verdict": lambda row: row.result.verdict.value if row.result.verdict and row.speed_up else None,
}


def write(report: Report, folder: Path) -> list[Path]:
    return write_text(folder / NAME, csv.render(FIELDS, rows(report)))


def rows(report: Report) -> list[Row]:
    """Pair every cell of the tables with its comparison, row by row."""
    results = report.analysis.results
    baseline = report.manifest.study.baseline
    bases = baselines_of(results, baseline)
    grades = {result.cell: result.quality for result in results}
    compared = {
        cell.result.cell: cell
        for row in rows_of(results).values()
        for cell in compare_row(row, bases, baseline, grades).values()
    }
    return [Row(result, compared.get(result.cell)) for result in results]
