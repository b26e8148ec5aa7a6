"""Draws where the samples of every process lie, cell by cell: how far processes and samples differ.

Quantiles are drawn, never samples, so that a run of a million samples takes no longer than another.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...statistics.location import Location
from ..report import Report
from ..tables.speedup_values import ComparedRow
from ..words.language import _
from .axes import scale, write_time
from .legend import cut, cut_names, finish, incomplete, missing
from .panels import choose, make_panels
from .style import MOST_COLUMNS, Style, styles_of

#: Processes of a cell that can be told apart.
MOST_PROCESSES = 8
#: Inches of a panel: for a column, and around them.
COLUMN, AROUND = 0.15, 0.45
#: As many letters are as long as the axis of a panel beside two others.
LETTERS = 31


def draw(report: Report) -> Figure | None:
    """Draw a panel for each row, with a band for each column and a line for each process; None without a time."""
    found = report.speed_ups
    if found is None:
        return None
    rows, columns, whole = choose(found, found.columns, MOST_COLUMNS)
    if not rows:
        return None
    styles = styles_of(found.columns, found.labels, columns)
    names = cut_names([found.labels[column].text for column in columns])
    figure, panels = make_panels([row.name for row in rows], len(columns) * COLUMN + AROUND, share_y=True)
    thinned = compared = False
    for axes, row in zip(panels, rows, strict=True):
        axes.set_ylim(len(columns) - 0.5, -0.5)
        axes.set_yticks(range(len(columns)), names)
        axes.tick_params(axis="y", length=0)
        thinned |= _draw_row(axes, row, columns, styles)
        base = row.cells.get(found.baseline)
        if base and base.time:
            compared = True
            axes.axvline(base.time.value, color="0.4", linewidth=0.5, linestyle=(0, (1, 1.5)), zorder=1)
    lines = [
        _("time of a step; a line is a process: 10% to 90% of its samples, thick 25% to 75%, dot median"),
        *([_("dotted: time of {baseline}", baseline=cut(found.baseline_name, 60))] if compared else []),
        *([_("of every cell at most {count} processes are shown", count=MOST_PROCESSES)] if thinned else []),
        *missing(found.cells()),
        *incomplete(whole),
    ]
    return finish(figure, lines)


def _draw_row(axes: Axes, row: ComparedRow, columns: Sequence[str], styles: dict[str, Style]) -> bool:
    """Draw the processes of a row; tell whether some are left out."""
    shown: list[tuple[float, Location, tuple[float, float, float]]] = []
    thinned = False
    for number in range(0, len(columns), 2):
        axes.axhspan(number - 0.5, number + 0.5, color="0.95", linewidth=0, zorder=0)
    for number, column in enumerate(columns):
        cell = row.cells.get(column)
        if cell is None or cell.time is None:
            continue
        every = cell.result.locations
        kept = _evenly(every, MOST_PROCESSES)
        thinned |= len(kept) < len(every)
        shown += [
            (number + 0.8 * ((i + 0.5) / len(kept) - 0.5), one, styles[column].colour) for i, one in enumerate(kept)
        ]
    heights, locations, colours = zip(*shown, strict=True)
    for width, low, high in ((0.4, "q10", "p90"), (1.2, "q25", "q75")):
        lows, highs = ([getattr(one, name) for one in locations] for name in (low, high))
        axes.hlines(heights, lows, highs, colours, linewidth=width, zorder=2)
    medians = [one.median for one in locations]
    axes.plot(medians, heights, "o", color="black", markersize=1.3, markeredgewidth=0, zorder=3)
    scale(axes, [end for one in locations for end in (one.q10, one.p90)], write=write_time, most=4, letters=LETTERS)
    return thinned


def _evenly(every: Sequence[Location], most: int) -> Sequence[Location]:
    if len(every) <= most:
        return every
    return [every[round(i * (len(every) - 1) / (most - 1))] for i in range(most)]
