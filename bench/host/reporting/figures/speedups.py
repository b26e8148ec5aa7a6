"""Draws the speed-up of every column over the baseline, with its interval."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...statistics.bootstrap import Estimate
from ..report import Report
from ..tables.interest import dispensability
from ..tables.speedup_values import SpeedUps, mean_name
from ..words.language import _
from .axes import scale
from .legend import cut, finish, handles_of, hollow, incomplete, missing
from .rows import make_frame, most_rows, place_of
from .style import MOST_COLUMNS, Style, styles_of


def draw(report: Report) -> Figure | None:
    """Draw the figure; None where there is no speed-up but the baseline's own."""
    found = report.speed_ups
    if found is None:
        return None
    others = [column for column in found.columns if not _is_base(found, column)]
    missed_most = sorted(others, key=dispensability(found).__getitem__)[:MOST_COLUMNS]
    columns = [column for column in others if column in missed_most]
    rows = found.rows[: most_rows(len(columns)) - bool(found.means)]
    points = [
        (number, column, place.speed_up, hollow(place))
        for number, row in enumerate(rows)
        for column in columns
        if (place := row.places.get(column)) and place.speed_up and not place.is_base
    ]
    if not points:
        return None
    names = [row.name for row in rows] + [mean_name(found, track, short=True) for track in found.tracks[:1]]
    styles = styles_of(found.columns if len(columns) == len(others) else columns, found.labels)
    figure, axes = make_frame(names, len(columns), bool(found.means))
    axes.axvline(1.0, color="0.2", linewidth=0.8, zorder=1)
    for number, column, speed_up, doubtful in points:
        y = number + place_of(columns.index(column), len(columns))
        _draw_point(axes, y, speed_up, styles[column], doubtful=doubtful)
    for column in (column for column in columns if column in found.means):
        mean = Estimate(found.means[column], None, None, found.whole_rows)
        y = len(rows) + place_of(columns.index(column), len(columns))
        _draw_point(axes, y, mean, styles[column], doubtful=False)
    ends = [end for _n, _c, one, _d in points for end in (one.value, one.low, one.high) if end is not None]
    scale(axes, [1.0, *ends, *found.means.values()])
    whole = len(rows) == len(found.rows) and len(columns) == len(others)
    lines = [
        _("speed-up over {baseline}", baseline=cut(found.baseline_name, 60)),
        _("above 1 is faster; lines are intervals"),
        *missing(found.places(), compared=True),
        *([] if whole else [incomplete()]),
    ]
    handles = handles_of(columns, found.labels, styles, doubtful=any(doubtful for *_rest, doubtful in points))
    return finish(figure, lines, handles)


def _is_base(found: SpeedUps, column: str) -> bool:
    """Tell whether a column has nothing to compare: the baseline, or the oldest of the versions."""
    return all(place.is_base for row in found.rows if (place := row.places.get(column)))


def _draw_point(axes: Axes, y: float, value: Estimate, style: Style, *, doubtful: bool) -> None:
    if value.low is not None and value.high is not None:
        axes.plot([value.low, value.high], [y, y], color=style.colour, linewidth=0.8, zorder=2)
    axes.plot([value.value], [y], zorder=3, **style.point(hollow=doubtful))
