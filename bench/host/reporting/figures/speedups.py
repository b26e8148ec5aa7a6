"""Draws the speed-up of every column over the baseline, with its interval."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis.quality import Quality
from ...statistics.bootstrap import Estimate
from ..tables.speedup_values import SpeedUps, mean_name
from ..words.language import _, ngettext
from .rows import MOST_COLUMNS, cut, make_frame, most_rows, place_of, scale
from .style import Style, styles_of


def draw(found: SpeedUps) -> Figure | None:
    """Draw the figure; None where there is no speed-up but the baseline's own."""
    columns = [column for column in found.columns if column != found.baseline][:MOST_COLUMNS]
    rows = found.rows[: most_rows(len(columns))]
    points = [
        (number, column, place.speed_up, place.grade is not Quality.CLEAN)
        for number, row in enumerate(rows)
        for column in columns
        if (place := row.places.get(column)) and place.speed_up and not place.is_base
    ]
    if not points:
        return None
    names = [row.name for row in rows] + [mean_name(found, track) for track in found.tracks[:1]]
    styles = styles_of(found.columns, found.labels)
    figure, axes = make_frame(names, len(columns), len(columns) + 1, bool(found.means))
    axes.axvline(1.0, color="0.2", linewidth=0.8, zorder=1)
    for number, column, speed_up, doubtful in points:
        y = number + place_of(columns.index(column), len(columns))
        _draw_point(axes, y, speed_up, styles[column], hollow=doubtful)
    for column in (column for column in columns if column in found.means):
        mean = Estimate(found.means[column], None, None, found.whole_rows)
        _draw_point(axes, len(rows) + place_of(columns.index(column), len(columns)), mean, styles[column], hollow=False)
    ends = [end for _n, _c, one, _d in points for end in (one.value, one.low, one.high) if end is not None]
    scale(axes, [1.0, *ends, *found.means.values()])
    notes = _notes(found, complete=len(rows) == len(found.rows) and len(columns) == len(found.columns) - 1)
    axes.set_xlabel("\n".join([_("speed-up over {baseline}", baseline=cut(found.baseline_name, 60)), *notes]))
    _legend(figure, found, columns, styles, any(doubtful for *_rest, doubtful in points))
    return figure


def _draw_point(axes: Axes, y: float, value: Estimate, style: Style, *, hollow: bool) -> None:
    if value.low is not None and value.high is not None:
        axes.plot([value.low, value.high], [y, y], color=style.colour, linewidth=0.8, zorder=2)
    axes.plot([value.value], [y], zorder=3, **_marker(style, hollow))


def _marker(style: Style, hollow: bool) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": style.marker,
        "markersize": 3.6,
        "markeredgewidth": 0.7,
        "markeredgecolor": style.colour,
        "markerfacecolor": "white" if hollow else style.colour,
    }


def _notes(found: SpeedUps, *, complete: bool) -> list[str]:
    withheld = sum(place.withheld for place in found.places())
    lines = [_("above 1 is faster; lines are intervals")]
    if withheld:
        lines.append(
            ngettext(
                "{count} cell is not shown: the machine was busy",
                "{count} cells are not shown: the machine was busy",
                withheld,
            )
        )
    if not complete:
        lines.append(_("more rows and columns are in table.csv"))
    return lines


def _legend(figure: Figure, found: SpeedUps, columns: list[str], styles: dict[str, Style], doubtful: bool) -> None:
    handles = [
        Line2D([], [], label=cut(found.labels[column].text), **_marker(styles[column], False)) for column in columns
    ]
    if doubtful:
        grey = Style((0.3, 0.3, 0.3), "o")
        handles.append(Line2D([], [], label=_("hollow: noisy or unsteady"), **_marker(grey, True)))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, handletextpad=0.2)
