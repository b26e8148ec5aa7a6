"""Puts names to the speed-ups of a run: the table, the paper's table, the page and the figure show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.quality import quality_of
from ...analysis.results import EXCLUDED, NOT_RUN, Result, columns_of
from ...analysis.run_analysis import Analysis
from ...analysis.speed_ups import ComparedCell, Grades, Places, compare_row, geometric_means
from ...storage.manifest import Manifest
from ..words.labels import Label, labels_of
from ..words.numbers import TIMES, choose_unit, fixed
from ..words.row_names import row_name, shared_facets, usual_facets
from .rows import measured_baseline, rows_of


@dataclass(frozen=True)
class ComparedRow:
    name: str
    #: {column: what it has here}, without the cells that were not planned or not run.
    places: Places


@dataclass(frozen=True)
class SpeedUps:
    """All speed-ups of a run over its baseline."""

    results: tuple[Result, ...]
    baseline: str
    #: The baseline first.
    columns: tuple[str, ...]
    labels: Mapping[str, Label]
    grades: Grades
    #: What all rows have in common: ``small, float32, cpu, 2 threads``.
    conditions: str
    rows: tuple[ComparedRow, ...]
    #: {column: geometric mean over the rows that the columns with most rows have in common}; empty where these are few.
    means: Mapping[str, float]
    #: How many rows the means are over.
    whole_rows: int

    def places(self) -> list[ComparedCell]:
        return [place for row in self.rows for place in row.places.values()]


def speed_ups(analysis: Analysis, manifest: Manifest) -> SpeedUps | None:
    """Compare everything with the baseline; None where nothing was measured, or nothing of the baseline."""
    results = [result for result in analysis.results if result.status not in (EXCLUDED, NOT_RUN)]
    baseline = measured_baseline(results, manifest)
    if baseline is None or all(result.step is None for result in results):
        return None
    columns = (baseline, *(column for column in columns_of(results) if column != baseline))
    grades = {result.cell: quality_of(result) for result in results}
    usual = usual_facets(results)
    rows = tuple(
        ComparedRow(row_name(row[0].cell, usual), compare_row(row, baseline, grades))
        for row in rows_of(results).values()
    )
    means, whole_rows = geometric_means((row.places for row in rows), columns)
    return SpeedUps(
        tuple(results),
        baseline,
        columns,
        labels_of(results),
        grades,
        shared_facets(results),
        rows,
        means,
        whole_rows,
    )


def mean_digits(found: SpeedUps, column: str) -> str:
    """Write the mean of a column; empty for the baseline, and for a column that has too few rows for one."""
    mean = found.means.get(column)
    return "" if mean is None or column == found.baseline else factor_digits(mean)


def factor_digits(value: float) -> str:
    """Write a number with two digits, or with all digits before the decimal sign."""
    return fixed(value, 0 if value >= 9.95 else 1 if value >= 0.995 else 2)


def time_digits(seconds: float) -> tuple[str, str]:
    """Write a time as a number and its unit."""
    unit = choose_unit([seconds], TIMES)
    return factor_digits(seconds / unit.size), unit.name
