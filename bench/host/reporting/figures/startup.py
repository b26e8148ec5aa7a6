"""Draws how the time of a step falls from the first call over the warm-up to the samples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.results import Result
from ...statistics.location import FloatArray
from ..report import Report
from ..words.language import _
from .axes import scale, write_time
from .legend import finish, handles_of, incomplete, missing
from .panels import choose, make_panels
from .style import MOST_LINES, Style, styles_of

#: Trials of the calibration, the first ones, and points for all samples of a process.
TRIALS, BLOCKS = 6, 5
PANEL = 1.45


def draw(report: Report) -> Figure | None:
    """Draw a panel for each row with a line for each column; None where no first call is known."""
    found = report.speed_ups
    if found is None:
        return None
    rows, columns, whole = choose(found, found.columns, MOST_LINES)
    courses = {
        (number, column): course
        for number, row in enumerate(rows)
        for column in columns
        if (cell := row.cells.get(column)) and cell.time and (course := course_of(cell.result))
    }
    if not any(0 in course for course in courses.values()):
        return None
    styles = styles_of(found.columns, found.labels, columns)
    figure, panels = make_panels([row.name for row in rows], PANEL, same_x=True)
    for number, axes in enumerate(panels):
        own = {column: course for (row, column), course in courses.items() if row == number}
        for column, course in own.items():
            _draw_course(axes, course, styles[column])
        scale(axes, (time for course in own.values() for time in course.values()), of="y", write=write_time, most=5)
        axes.set_xlim(-0.9, TRIALS + BLOCKS + 0.5)
        axes.set_xticks([0, (1 + TRIALS) / 2, TRIALS + (1 + BLOCKS) / 2], [_("first call"), _("trials"), _("samples")])
        axes.tick_params(axis="x", length=0)
        for edge in (0.5, TRIALS + 0.5):
            axes.axvline(edge, color="0.7", linewidth=0.4)
    lines = [
        _("time of the first call, then of a step: in the first trials, and in each fifth of the samples"),
        *missing(found.cells()),
        *incomplete(whole),
    ]
    return finish(figure, lines, handles_of(columns, found.labels, styles, lines=True))


def course_of(result: Result) -> dict[int, float]:
    """Return the seconds of the first call (0), and of a step in each trial and block, by place.

    They are medians over processes; the first call is that with a cold cache.
    """
    first = result.first_call_s("cold")
    found = {} if first is None else {0: first}
    trials = [_seconds(process.record.warmup_ns[:TRIALS]) for process in result.timed]
    # A process may have more trials than another.
    common = min(map(len, trials), default=0)
    found |= _medians(1, (trial[:common] for trial in trials))
    return found | _medians(TRIALS + 1, (_blocks(process.turns.log_s) for process in result.timed))


def _seconds(nanoseconds: list[int]) -> FloatArray:
    return np.maximum(1.0, np.array(nanoseconds, dtype=np.float64)) / 1e9


def _blocks(log_s: FloatArray) -> FloatArray:
    """Return the median of each part of a series, of which all have about the same length."""
    parts = np.array_split(log_s, min(BLOCKS, len(log_s)))
    return np.exp([float(np.median(part)) for part in parts])


def _medians(start: int, series: Iterable[FloatArray]) -> dict[int, float]:
    every = list(series)
    common = min(map(len, every), default=0)
    if not common:
        return {}
    return dict(enumerate(np.median([one[:common] for one in every], axis=0).tolist(), start))


def _draw_course(axes: Axes, course: dict[int, float], style: Style) -> None:
    places = sorted(course)
    ends = sorted({0, len(places) - 1})
    axes.plot(places, [course[place] for place in places], markevery=ends, zorder=2, **(style.point() | style.line()))
