"""Draws after how many steps a slow first call has paid for itself: total times over the baseline's."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.baselines import Baselines, baselines_of
from ...analysis.results import Result
from ..report import Report
from ..tables.speedup_values import ComparedRow
from ..words.language import _
from .axes import scale, write_power
from .legend import cut, finish, handles_of, incomplete, missing
from .panels import choose, make_panels
from .style import MOST_LINES, Style, styles_of

PANEL = 1.4
#: Steps that are shown at least and at most.
FEWEST_STEPS, MOST_STEPS = 1e3, 1e7
#: Ratios beyond these are not shown.
LEAST, GREATEST = 0.05, 500.0


def draw(report: Report) -> Figure | None:
    """Draw a panel for each row with a line for each column; None where no two cold first calls can be compared."""
    found = report.speed_ups
    if found is None:
        return None
    others = [column for column in found.columns if column != found.baseline]
    bases = baselines_of(found.results, report.manifest.study.baseline)
    rows, columns, whole = choose(found, others, MOST_LINES, lambda row, column: _base(row, column, bases) is not None)
    if not rows:
        return None
    styles = styles_of(found.columns, found.labels, columns)
    steps = np.geomspace(1.0, _most_steps(rows), 100)
    figure, panels = make_panels([row.name for row in rows], PANEL, same_x=True)
    for axes, row in zip(panels, rows, strict=True):
        axes.axhline(1.0, color="0.2", linewidth=0.8, zorder=1)
        shown = [1.0]
        for column in columns:
            base = _base(row, column, bases)
            if base is not None:
                ratios = _ratios(row.cells[column].result, base, steps)
                axes.plot(steps, ratios, zorder=2, **styles[column].line())
                _mark(axes, row.cells[column].result, styles[column])
                shown += [float(ratios[0]), float(ratios[-1])]
        scale(axes, steps, write=write_power, most=5)
        scale(axes, (min(GREATEST, max(LEAST, ratio)) for ratio in shown), of="y", most=5)
    baseline = cut(found.baseline_name, 60)
    lines = [
        _("steps after the first call"),
        _(
            "first call and steps together, over those of {baseline}: below 1 it has paid off (markers: break-even)",
            baseline=baseline,
        ),
        *missing(found.cells(), compared=True),
        *incomplete(whole),
    ]
    return finish(figure, lines, handles_of(columns, found.labels, styles, lines=True))


def _base(row: ComparedRow, column: str, bases: Baselines) -> Result | None:
    """Return what a cell is compared with, where both have times that can be used, and cold first calls."""
    cell = row.cells.get(column)
    base = bases.get(cell.result.cell) if cell else None
    other = row.cells.get(base.cell.column) if base else None
    usable = all(one and one.time and one.result.first_call_s("cold") is not None for one in (cell, other))
    return base if usable else None


def _most_steps(rows: list[ComparedRow]) -> float:
    """Return a power of ten that is well above the last break-even."""
    last = max(
        (
            steps
            for row in rows
            for cell in row.cells.values()
            if (steps := cell.result.break_even) and math.isfinite(steps)
        ),
        default=1.0,
    )
    return min(MOST_STEPS, max(FEWEST_STEPS, 10.0 ** math.ceil(math.log10(2.0 * last))))


def _ratios(result: Result, base: Result, steps: np.ndarray) -> np.ndarray:
    """Return the seconds of the first call and so many steps over the baseline's."""
    first, other = result.first_call_s("cold"), base.first_call_s("cold")
    assert first is not None
    assert other is not None
    assert result.step is not None
    assert base.step is not None
    return (first + steps * result.step.value) / (other + steps * base.step.value)


def _mark(axes: Axes, result: Result, style: Style) -> None:
    if result.break_even and 1.0 <= result.break_even <= MOST_STEPS:
        axes.plot([result.break_even], [1.0], zorder=3, **style.point())
