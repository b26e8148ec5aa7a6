"""Holds the numbers that compare every column with the baseline; the table, the paper's table and the figure show them.

A number that must not be used is not in here: times that other programs disturbed, and speed-ups over such a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.cell import Cell

from ...analysis.quality import Quality, quality_of
from ...analysis.results import EXCLUDED, NOT_RUN, Result, columns_of
from ...analysis.run_analysis import Analysis
from ...statistics.bootstrap import Estimate
from ...storage.manifest import Manifest
from ..words.labels import Label, labels_of
from ..words.numbers import TIMES, choose_unit, fixed
from ..words.row_names import row_name, shared_facets, varying
from .rows import measured_baseline, rows_of

#: A mean over fewer rows describes those rows better than a column.
FEWEST_ROWS = 3


@dataclass(frozen=True)
class ComparedCell:
    """What one column has in one row."""

    result: Result
    #: None where the cell has no time.
    grade: Quality | None
    #: Seconds per step; None where the cell has none, or none that can be used.
    time: Estimate | None
    #: How many times as fast as the baseline, exactly 1 for the baseline itself; None where they cannot be compared.
    speed_up: Estimate | None
    #: Whether there is a number that must not be shown.
    withheld: bool


@dataclass(frozen=True)
class ComparedRow:
    name: str
    #: {column: what it has here}, without the cells that were not planned or not run.
    places: Mapping[str, ComparedCell]


@dataclass(frozen=True)
class SpeedUps:
    """All speed-ups of a run over its baseline."""

    results: tuple[Result, ...]
    baseline: str
    #: The baseline first.
    columns: tuple[str, ...]
    labels: Mapping[str, Label]
    grades: Mapping[Cell, Quality | None]
    #: What all rows have in common: ``small, float32, cpu, 2 threads``.
    conditions: str
    rows: tuple[ComparedRow, ...]
    #: {column: geometric mean over the rows in which every column has a speed-up}; empty where such rows are too few.
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
    shown = varying(results)
    rows = tuple(
        ComparedRow(row_name(row[0].cell, shown), _places(row, baseline, grades)) for row in rows_of(results).values()
    )
    logs = _logs(rows, columns)
    return SpeedUps(
        tuple(results),
        baseline,
        columns,
        labels_of(results),
        grades,
        shared_facets(results),
        rows,
        _means(logs, columns),
        len(logs),
    )


def _places(row: Sequence[Result], baseline: str, grades: Mapping[Cell, Quality | None]) -> dict[str, ComparedCell]:
    base = next((grades[result.cell] for result in row if result.cell.column == baseline), None)
    return {
        result.cell.column: _place(result, grades[result.cell], base, result.cell.column == baseline) for result in row
    }


def _place(result: Result, grade: Quality | None, base: Quality | None, is_baseline: bool) -> ComparedCell:
    if grade is None or not grade.usable:
        return ComparedCell(result, grade, None, None, withheld=grade is not None)
    if is_baseline:
        return ComparedCell(result, grade, result.step, Estimate(1.0, 1.0, 1.0, len(result.timed)), withheld=False)
    if base is not None and not base.usable:
        return ComparedCell(result, grade, result.step, None, withheld=True)
    faster = None if result.ratio is None else inverse(result.ratio.estimate)
    return ComparedCell(result, grade, result.step, faster, withheld=False)


def _logs(rows: Sequence[ComparedRow], columns: Sequence[str]) -> list[list[float]]:
    """Return the logarithms of the speed-ups, row by row, of the rows in which every column has one."""
    found = []
    for row in rows:
        factors = [place.speed_up for place in (row.places.get(column) for column in columns) if place]
        usable = [math.log(factor.value) for factor in factors if factor]
        if len(usable) == len(columns):
            found.append(usable)
    return found


def _means(logs: Sequence[Sequence[float]], columns: Sequence[str]) -> dict[str, float]:
    if len(logs) < FEWEST_ROWS:
        return {}
    means = [math.exp(math.fsum(column) / len(logs)) for column in zip(*logs, strict=True)]
    return dict(zip(columns, means, strict=True))


def inverse(ratio: Estimate) -> Estimate:
    """Turn a ratio of times into a speed-up, or back."""
    low, high = (None if bound is None else 1.0 / bound for bound in (ratio.high, ratio.low))
    return Estimate(1.0 / ratio.value, low, high, ratio.n)


def factor_digits(value: float) -> str:
    """Write a number with two digits, or with all digits before the decimal sign."""
    return fixed(value, 0 if value >= 9.95 else 1 if value >= 0.995 else 2)


def time_digits(seconds: float) -> tuple[str, str]:
    """Write a time as a number and its unit."""
    unit = choose_unit([seconds], TIMES)
    return factor_digits(seconds / unit.size), unit.name
