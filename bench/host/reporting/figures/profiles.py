"""Draws performance profiles: in what share of the rows a column is within a factor of the best (Dolan & Moré 2002)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.ranking import FEWEST_COLUMNS
from ...analysis.speed_ups import FEWEST_ROWS, in_most_rows
from ...statistics.performance_profile import PerformanceProfile, performance_profiles
from ..report import Report
from ..tables.speedup_values import SpeedUps
from ..words.language import _, ngettext
from ..words.numbers import percent
from .axes import scale
from .legend import finish, handles_of, incomplete, missing
from .style import MOST_LINES, TEXT_WIDTH, WIDTH, Style, styles_of

HEIGHT = 2.1
MOST_PANELS = 2
#: Greater factors are not shown: there, a column has all the rows that it ever has.
GREATEST = 100.0


def draw(report: Report) -> Figure | None:
    """Draw a panel for each device with a line for each column; None where too few rows can be compared."""
    found = report.speed_ups
    if found is None:
        return None
    every = {device: times for device in _devices(found) if (times := times_on(device, found))}
    shown = dict(list(every.items())[:MOST_PANELS])
    if not shown:
        return None
    profiles = {device: _best_of(times) for device, times in shown.items()}
    columns = {column for best in profiles.values() for column in best}
    styles = styles_of(found.columns, found.labels, columns)
    figure = Figure(figsize=(WIDTH if len(shown) == 1 else TEXT_WIDTH, HEIGHT), layout="constrained")
    for axes, (device, times) in zip(figure.subplots(1, len(shown), squeeze=False).flat, shown.items(), strict=True):
        best = profiles[device]
        _draw_profiles(axes, {column: best[column] for column in found.columns if column in best}, styles)
        rows = ngettext("{count} row", "{count} rows", len(next(iter(times.values()))))
        axes.set_title(f"{device}, {rows}" if len(every) > 1 else rows)
    figure.axes[0].set_ylabel(_("share of rows"))
    lines = [
        _("time is at most so many times the best of the row"),
        *missing(found.cells()),
        *incomplete(len(columns) == len(found.columns)),
    ]
    named = [column for column in found.columns if column in columns]
    return finish(figure, lines, handles_of(named, found.labels, styles, lines=True))


def _devices(found: SpeedUps) -> list[str]:
    return list(dict.fromkeys(result.cell.device for result in found.results))


def times_on(device: str, found: SpeedUps) -> dict[str, dict[str, float]]:
    """Return {column: {row: seconds}} of the rows in which every column was tried and no time is withheld.

    A failure takes for ever. A column with few rows, such as a mode for training only, is left out, as the others'
    profiles would be over those few rows, too. Nothing is returned where too few rows or columns remain.
    """
    rows = [row for row in found.rows if row.any_cell.device == device]
    columns = in_most_rows(
        {column: {number for number, row in enumerate(rows) if column in row.cells} for column in found.columns}
    )
    kept = [
        row
        for row in rows
        if all((cell := row.cells.get(column)) and (cell.time or cell.grade is None) for column in columns)
        and any(cell.time for cell in row.cells.values())
    ]
    if len(kept) < FEWEST_ROWS or len(columns) < FEWEST_COLUMNS:
        return {}
    return {
        column: {
            str(number): time.value if (time := row.cells[column].time) else math.inf for number, row in enumerate(kept)
        }
        for column in columns
    }


def _best_of(times: Mapping[str, Mapping[str, float]]) -> dict[str, PerformanceProfile]:
    profiles = performance_profiles(times)
    return {column: profiles[column] for column in sorted(profiles, key=lambda one: _merit(profiles[one]))[:MOST_LINES]}


def _merit(profile: PerformanceProfile) -> float:
    """Return the mean logarithm of the factors, of which none counts more than the greatest that is shown."""
    return math.fsum(math.log(min(GREATEST, factor)) for factor in profile.factors)


def _draw_profiles(axes: Axes, profiles: Mapping[str, PerformanceProfile], styles: Mapping[str, Style]) -> None:
    factors = [factor for profile in profiles.values() for factor in profile.factors if math.isfinite(factor)]
    last = min(GREATEST, max(factors) * 1.05)
    for column, profile in profiles.items():
        x = [1.0, *(factor for factor in profile.factors if factor <= last), last]
        share = [profile.share(factor) for factor in x]
        look = styles[column].point() | styles[column].line()
        axes.plot(x, share, drawstyle="steps-post", markevery=slice(1, -1), zorder=2, **look)
    scale(axes, [1.0, last])
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], [percent(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)])
    axes.grid(axis="y", color="0.85", linewidth=0.4, zorder=0.5)
    axes.spines[["top", "right"]].set_visible(False)
