"""Draws the speed-up of every column over the baseline, with its interval.

Where there is no room for all rows with all columns, the figure has every row and the best column of each version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...statistics.bootstrap import Estimate
from ..report import Report
from ..tables.interest import best_of_versions, dispensability
from ..tables.speedup_values import ComparedRow, SpeedUps, mean_name
from ..words.language import _, ngettext
from .axes import scale
from .legend import cut, finish, handles_of, hollow, incomplete, missing
from .rows import make_frame, make_wide_frame, most_rows, most_wide_rows, place_of
from .style import MOST_COLUMNS, Style, styles_of

#: How many times as far as the outermost point the axis reaches, however long the intervals are.
BEYOND = 3.0


@dataclass(frozen=True)
class Drawn:
    """The rows and columns that a figure has room for."""

    rows: Sequence[ComparedRow]
    columns: Sequence[str]
    #: Whether the rows stand in two columns of bands.
    wide: bool
    #: What is not shown, in words.
    notes: tuple[str, ...] = ()


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
    others = [column for column in found.columns if not _is_base(found, column)]
    if not others:
        return None
    shown = _choose(found, others)
    points = _points(found, shown)
    if not any(point.band < len(shown.rows) for point in points):
        return None
    names = [row.name for row in shown.rows] + [mean_name(found, track, short=True) for track in found.tracks[:1]]
    whole = len(shown.columns) == len(others)
    styles = styles_of(found.columns if whole else shown.columns, found.labels)
    if shown.wide:
        figure, axes = make_wide_frame(names, len(shown.columns), bool(found.means))
    else:
        figure, one = make_frame(names, len(shown.columns), bool(found.means))
        axes = [one]
    cut_off = _draw_points(axes, points, shown.columns, styles)
    seen = found.places() if whole else [row.places[c] for row in found.rows for c in shown.columns if c in row.places]
    lines = [
        [
            _("speed-up over {baseline}", baseline=cut(found.baseline_name, 60)),
            _("above 1 is faster; lines are intervals"),
        ],
        [*missing(seen, compared=True), *shown.notes, *([_("an arrow: the interval goes on")] if cut_off else [])],
    ]
    notes = ["; ".join(some) for some in lines] if shown.wide else [line for some in lines for line in some]
    handles = handles_of(shown.columns, found.labels, styles, doubtful=any(point.hollow for point in points))
    return finish(figure, notes, handles)


def _is_base(found: SpeedUps, column: str) -> bool:
    """Tell whether a column has nothing to compare: the baseline, or the oldest of the versions."""
    return all(place.is_base for row in found.rows if (place := row.places.get(column)))


def _choose(found: SpeedUps, others: Sequence[str]) -> Drawn:
    """Choose what is shown: all of a small study; of a large one every row, with as many columns as leave room."""
    means = bool(found.means)
    missed_most = sorted(others, key=dispensability(found).__getitem__)
    columns = [column for column in others if column in missed_most[:MOST_COLUMNS]]
    if len(found.rows) + means <= most_rows(len(columns)):
        return Drawn(found.rows, columns, False, () if columns == list(others) else (incomplete(),))
    versions = best_of_versions(found, others)
    # With a single version, its modes are what is compared.
    best = [column for column in missed_most if column in versions or len(versions) == 1][:MOST_COLUMNS]
    for count in range(len(best), 0, -1):
        columns = [column for column in others if column in best[:count]]
        rows = [row for row in found.rows if any(_compared(row, column) for column in columns)]
        if len(rows) + means <= most_wide_rows(count):
            break
    room = most_wide_rows(len(columns)) - means
    cuts = bool(rows[room:])
    empty = len(found.rows) - len(rows)
    notes = []
    if cuts or count < len(best):
        notes = [incomplete()]
    elif len(columns) < len(others):
        notes = [_("one column of each version; all are in details.csv")]
    if empty:
        notes += [
            ngettext(
                "{count} row without a speed-up of these is left out",
                "{count} rows without a speed-up of these are left out",
                empty,
            )
        ]
    return Drawn(rows[:room], columns, len(rows) + means > most_rows(len(columns)), tuple(notes))


def _compared(row: ComparedRow, column: str) -> Estimate | None:
    place = row.places.get(column)
    return None if place is None or place.is_base else place.speed_up


def _points(found: SpeedUps, shown: Drawn) -> list[Mark]:
    """List the points of all bands; that of the means is the last."""
    points = [
        Mark(band, column, speed_up, hollow(row.places[column]))
        for band, row in enumerate(shown.rows)
        for column in shown.columns
        if (speed_up := _compared(row, column)) is not None
    ]
    means = [
        Mark(len(shown.rows), column, Estimate(found.means[column], None, None, found.whole_rows), hollow=False)
        for column in shown.columns
        if column in found.means
    ]
    return points + means


def _draw_points(
    axes: Sequence[Axes], points: Sequence[Mark], columns: Sequence[str], styles: Mapping[str, Style]
) -> bool:
    """Draw the points into their bands; return whether an interval goes on beyond the axis."""
    bands = len(axes[0].get_yticks())
    values = [1.0, *(point.value.value for point in points)]
    least, most = min(values) / BEYOND, max(values) * BEYOND
    ends = [end for point in points for end in (point.value.low, point.value.high) if end is not None]
    for one in axes:
        one.axvline(1.0, color="0.2", linewidth=0.8, zorder=1)
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
