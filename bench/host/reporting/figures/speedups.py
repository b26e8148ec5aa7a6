"""Draws the speed-up of every column over the baseline, or the ratio of their times, with its interval.

Where there is no room for all rows with all columns, the figure has every row with the fastest mode of each version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.best_modes import BestModes, environment_of
from ...analysis.speed_ups import ComparedCell, Track, inverse
from ...statistics.bootstrap import Estimate
from ..report import Report
from ..tables.speedup_values import SpeedUps, mean_name
from ..words.language import _
from .axes import scale
from .legend import cut, finish, handles_of, hollow, missing
from .rows import make_frame, make_wide_frame, place_of
from .series import Drawn, choose, is_base
from .style import Style, styles_of

#: How many times as far as the outermost point the axis reaches, however long the intervals are.
BEYOND = 3.0


@dataclass(frozen=True)
class Mark:
    band: int
    column: str
    value: Estimate
    hollow: bool


def draw(report: Report) -> Figure | None:
    """Draw the figure; None where there is no speed-up but the baseline's own."""
    found = report.speed_ups
    if found is None:
        return None
    others = [column for column in found.columns if not is_base(found, column)]
    if not others:
        return None
    shown = choose(found, others)
    points = _points(found, shown)
    if not points:
        return None
    names = [row.name for row in shown.rows]
    means: list[Mark] = []
    choice: list[str] = []
    for track in found.tracks:
        name, marks, how = _means(report, found, track, shown, points, len(names))
        if marks:
            names.append(name)
            means += marks
            choice += [words for words in how if words not in choice]
    bands = len(names) - len(shown.rows)
    if shown.wide:
        figure, axes = make_wide_frame(names, len(shown.series), bands)
    else:
        figure, one = make_frame(names, len(shown.series), bands)
        axes = [one]
    labels = {series.key: series.label for series in shown.every}
    styles = styles_of(list(labels), labels, [series.key for series in shown.series])
    cut_off = _draw_points(axes, [*points, *means], [series.key for series in shown.series], styles)
    lines = _lines(found, shown, points, means, choice)
    lines[-1] += [_("an arrow: the interval goes on")] if cut_off else []
    notes = ["; ".join(some) for some in lines if some] if shown.wide else [line for some in lines for line in some]
    named = {
        series.key: replace(series.label, product=shown.name(series, found), version="", mode="")
        for series in shown.series
    }
    doubtful = any(point.hollow for point in points)
    return finish(figure, notes, handles_of(named, named, styles, doubtful=doubtful))


def _points(found: SpeedUps, shown: Drawn) -> list[Mark]:
    """List the points of all rows."""
    return [
        Mark(band, series.key, found.shown_estimate(cell.speed_up), hollow(cell))
        for band, row in enumerate(shown.rows)
        for series in shown.series
        if (cell := series.fastest(row)) is not None and cell.speed_up is not None
    ]


def _means(
    report: Report, found: SpeedUps, track: Track, shown: Drawn, points: Sequence[Mark], band: int
) -> tuple[str, list[Mark], list[str]]:
    """Return the name and the points of a track's geometric means, in a band of their own, and how modes were chosen.

    A mean of which half of the points or more are hollow is hollow. Its interval is that of the ranking.
    """
    ranked_track = report.ranked.track(track.device, track.threads)
    best = ranked_track.best_modes if ranked_track and any(series.chosen for series in shown.series) else None
    if best:
        rows = best.rows
        values = {one.environment: inverse(one.ratio) for one in best.versions}
        means = {series.key: values.get(environment_of(series.columns[0])) for series in shown.series}
    else:
        rows = track.rows
        means = {**report.ranked.means(track)}
    known = [(series.key, mean) for series in shown.series if (mean := means.get(series.key))]
    cells = [row.any_cell for row in shown.rows]
    same = {row for row, cell in enumerate(cells) if (cell.device, cell.threads) == (track.device, track.threads)}
    own = [point for point in points if point.band in same]
    firm = {key: [not point.hollow for point in own if point.column == key] for key, _mean in known}
    marks = [
        Mark(band, key, found.shown_estimate(mean), hollow=2 * sum(firm[key]) <= len(firm[key])) for key, mean in known
    ]
    name = mean_name(found, replace(track, rows=rows), short=True)
    return name, marks, [_choice(best)] if best and marks else []


def _choice(best: BestModes) -> str:
    if 2 * best.chosen_by_itself >= best.rows:
        return _("means: single processes choose their own mode, which flatters")
    return _("means: the mode of each process is chosen by the others")


def _lines(
    found: SpeedUps, shown: Drawn, points: Sequence[Mark], means: Sequence[Mark], choice: list[str]
) -> list[list[str]]:
    """Write what is shown, how it was chosen, and what is not shown."""
    how = [
        _("the fastest mode of each version in each row, chosen after measuring"),
        _("all modes are in details.csv"),
    ]
    return [
        [_compared(found), f"{_direction(found)}; {_intervals(points, means)}"],
        [*(how if any(series.chosen for series in shown.series) else []), *choice],
        [*missing(_seen(found, shown), compared=True), *shown.notes],
    ]


def _compared(found: SpeedUps) -> str:
    baseline = cut(found.baseline_name, 60)
    if found.as_ratios:
        return _("time over that of {baseline}", baseline=baseline)
    return _("speed-up over {baseline}", baseline=baseline)


def _direction(found: SpeedUps) -> str:
    return _("below 1 is faster") if found.as_ratios else _("above 1 is faster")


def _intervals(points: Sequence[Mark], means: Sequence[Mark]) -> str:
    """Say what lines are, where there are some: one process has no interval, a mean over rows has one."""
    # What is chosen may be the baseline itself, which has none either.
    lows = [point.value.low for point in points if point.value.low is None or point.value.low != point.value.high]
    if None not in lows:
        return _("lines are intervals")
    if any(low is not None for low in lows):
        return _("lines are intervals, which single processes lack")
    if any(mean.value.low is not None for mean in means):
        return _("one process each, so only means have intervals")
    return _("one process each, so without intervals")


def _seen(found: SpeedUps, shown: Drawn) -> list[ComparedCell]:
    """Return the cells of which a reader may miss one: of a version those whose times are withheld, or one of none."""
    drawn = {series.columns for series in shown.series}
    if all((column,) in drawn or is_base(found, column) for column in found.columns):
        return found.cells()
    cells = []
    for row in found.rows:
        for series in shown.series:
            own = [row.cells[column] for column in series.columns if column in row.cells]
            others = [cell for cell in own if not cell.withheld]
            cells += [cell for cell in own if cell.withheld] + ([] if series.fastest(row) else others[:1])
    return cells


def _draw_points(
    axes: Sequence[Axes], points: Sequence[Mark], columns: Sequence[str], styles: Mapping[str, Style]
) -> bool:
    """Draw the points into their bands; return whether an interval goes on beyond the axis."""
    bands = len(axes[0].get_yticks())
    values = [1.0, *(point.value.value for point in points)]
    least, most = min(values) / BEYOND, max(values) * BEYOND
    ends = [end for point in points for end in (point.value.low, point.value.high) if end is not None]
    for one in axes:
        # Above the lines of the grid, which are drawn at 1.5: one of them stands at 1, too.
        one.axvline(1.0, color="0.2", linewidth=0.8, zorder=1.6)
        scale(one, [*values, *(min(most, max(least, end)) for end in ends)])
    for point in points:
        panel, band = divmod(point.band, bands)
        y = band + place_of(columns.index(point.column), len(columns))
        _draw_point(axes[panel], y, point, styles[point.column], (least, most))
    return any(not least <= end <= most for end in ends)


def _draw_point(axes: Axes, y: float, point: Mark, style: Style, limits: tuple[float, float]) -> None:
    low, high = point.value.low, point.value.high
    if low is not None and high is not None:
        ends = max(low, limits[0]), min(high, limits[1])
        axes.plot(ends, [y, y], color=style.colour, linewidth=0.8, zorder=2)
        for end, goes_on, marker in ((ends[0], low < limits[0], "<"), (ends[1], high > limits[1], ">")):
            if goes_on:
                axes.scatter([end], [y], s=5, marker=marker, color=[style.colour], linewidths=0, zorder=2)
    axes.plot([point.value.value], [y], zorder=3, **style.point(hollow=point.hollow))
