"""Puts names to the speed-ups of a run: the table, the paper's table, the page and the figure show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.cell import Cell

from ...analysis.baselines import Baselines, baselines_of, columns_before
from ...analysis.fairness import explanations
from ...analysis.quality import Quality
from ...analysis.results import EXCLUDED, NOT_RUN, Result, columns_of
from ...analysis.run_analysis import Analysis
from ...analysis.speed_ups import ComparedCell, ComparedCells, Grades, Track, average_tracks, compare_row, inverse
from ...statistics.bootstrap import Estimate
from ...statistics.verdict import Verdict
from ...storage.manifest import Manifest
from ...study.baseline import PREVIOUS, RATIO
from ..words.caption import baseline_name
from ..words.labels import Label, in_order, labels_of
from ..words.language import _
from ..words.numbers import TIMES, Unit, choose_unit, format_factor, two_digits
from ..words.row_names import row_name, shared_facets, threads_in_words, usual_facets
from .rows import measured_baseline, rows_of

#: Below this, a speed-up above 1 is written as 1.0 with two digits.
NEAR_ONE = 1.05
HUNDREDTHS = 2


@dataclass(frozen=True)
class ComparedRow:
    name: str
    #: {column: what it has here}, without the cells that were not planned or not run.
    cells: ComparedCells

    @property
    def any_cell(self) -> Cell:
        """One of its cells: all of them compute the same, on the same device and threads."""
        return next(iter(self.cells.values())).result.cell


@dataclass(frozen=True)
class SpeedUps:
    """All speed-ups of a run over its baseline."""

    results: tuple[Result, ...]
    #: A column, or one of ``bench.host.study.baseline.CHOSEN``.
    baseline: str
    #: The baseline first.
    columns: tuple[str, ...]
    labels: Mapping[str, Label]
    grades: Grades
    #: What all rows have in common: ``small, float32, cpu, 2 threads``.
    conditions: str
    rows: tuple[ComparedRow, ...]
    #: The means of each device and number of threads, over the rows that the columns with most rows have in common.
    tracks: tuple[Track, ...]
    #: {column: settings that may explain its ratios}, without the columns that have none.
    explained: Mapping[str, tuple[str, ...]]
    #: Whether a report shows how many times as long a cell takes, instead of how many times as fast it is.
    as_ratios: bool

    @property
    def product(self) -> str:
        """The framework, where the columns are versions of one; else empty."""
        of = [self.labels[column] for column in self.columns]
        return of[0].product if len({label.product for label in of}) == 1 < len({label.version for label in of}) else ""

    @property
    def before(self) -> Mapping[str, str]:
        """{column: that of the version before}, where each version is compared with the one before; else empty."""
        return columns_before(self.results) if self.baseline == PREVIOUS else {}

    @property
    def shown_grades(self) -> Grades:
        """The grades of the numbers that tables show: a cell whose baseline is disturbed has none of its own."""
        return {cell.result.cell: Quality.DISTURBED if cell.withheld else cell.grade for cell in self.cells()}

    @property
    def baseline_name(self) -> str:
        return baseline_name(self.baseline, self.labels)

    def shown(self, speed_up: float) -> float:
        """Return what tables show of a speed-up."""
        return 1.0 / speed_up if self.as_ratios else speed_up

    def shown_estimate(self, speed_up: Estimate) -> Estimate:
        """Return what figures and pages show of a speed-up with its interval."""
        return inverse(speed_up) if self.as_ratios else speed_up

    @property
    def means(self) -> Mapping[str, float]:
        """The means over most rows; empty where no track has any."""
        return self.tracks[0].means if self.tracks else {}

    @property
    def lacks_baseline(self) -> bool:
        """Whether there are rows without a time of the baseline, where the others' times are shown."""
        return any(cell.shows_time and not cell.is_base for cell in self.cells())

    def cells(self) -> list[ComparedCell]:
        return [cell for row in self.rows for cell in row.cells.values()]


def speed_ups(analysis: Analysis, manifest: Manifest) -> SpeedUps | None:
    """Compare everything with the baseline; None where nothing was measured, or nothing of the baseline."""
    results = [result for result in analysis.results if result.status not in (EXCLUDED, NOT_RUN)]
    baseline = measured_baseline(results, manifest)
    if baseline is None or all(result.step is None for result in results):
        return None
    labels = labels_of(results)
    columns = tuple(sorted(in_order(columns_of(results), labels), key=lambda column: column != baseline))
    bases = baselines_of(results, baseline)
    grades = {result.cell: result.quality for result in results}
    usual = usual_facets(results)
    rows = tuple(
        ComparedRow(row_name(row[0].cell, usual), compare_row(row, bases, baseline, grades))
        for row in rows_of(results).values()
    )
    return SpeedUps(
        tuple(results),
        baseline,
        columns,
        labels,
        grades,
        shared_facets(results),
        rows,
        average_tracks([row.cells for row in rows], columns),
        _explained(rows, bases),
        manifest.study.ratios == RATIO,
    )


def _explained(rows: Sequence[ComparedRow], bases: Baselines) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for column, cell in row.cells.items():
            base = bases.get(cell.result.cell)
            if base is not None and cell.speed_up is not None and (names := explanations(cell.result, base)):
                found.setdefault(column, {}).update(dict.fromkeys(names))
    return {column: tuple(names) for column, names in found.items()}


def mean_name(found: SpeedUps, track: Track, *, short: bool = False) -> str:
    """Name a row of means, and over what it is where that is not every row: ``geometric mean, 1 thread``."""
    cells = [cell.result.cell for cell in found.cells()]
    parts = [_("geometric mean")]
    if track.rows < track.of_rows:
        parts = [
            _("geometric mean, {rows} rows", rows=track.rows)
            if short
            else _("geometric mean of {rows} of {all} rows", rows=track.rows, all=track.of_rows)
        ]
    if len({cell.device for cell in cells}) > 1:
        parts.append(track.device)
    if len({cell.threads for cell in cells}) > 1:
        parts.append(threads_in_words(track.threads))
    return ", ".join(parts)


def mean_digits(found: SpeedUps, track: Track, column: str) -> str:
    """Write the mean of a column; empty for the baseline, and for a column that has too few rows for one."""
    mean = track.means.get(column)
    compared = any(not row.cells[column].is_base for row in found.rows if column in row.cells)
    return "" if mean is None or not compared else format_factor(found.shown(mean))


def speed_up_digits(found: SpeedUps, cell: ComparedCell) -> str:
    """Write what tables show of a cell's speed-up; see ``cell_digits``."""
    assert cell.speed_up is not None
    return cell_digits(cell, found.shown(cell.speed_up.value))


def cell_digits(cell: ComparedCell, factor: float) -> str:
    """Write the speed-up of a cell, or its ratio, with two digits.

    It has three where it would look like 1 and is certainly different.
    """
    certain = cell.result.verdict is Verdict.DIFFERENT
    return format_factor(factor, HUNDREDTHS if certain and two_digits(factor) == 1 and factor < NEAR_ONE else 0)


def time_digits(seconds: float) -> tuple[str, str]:
    """Write a time as a number and its unit."""
    unit = time_unit(seconds)
    return format_factor(seconds / unit.size), unit.name


def time_unit(seconds: float) -> Unit:
    """Choose the unit of one time: what would be rounded to 1000 of a unit is 1.0 of the next one."""
    return choose_unit([seconds / 0.9995], TIMES)
