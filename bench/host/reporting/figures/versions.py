"""Draws how the time of a step changes over the versions of a framework: a figure per workload, a panel per line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point, VersionVerdict
from ..words.history import MINUS, change_word
from ..words.language import _
from ..words.numbers import TIMES, choose_unit, format_value, general
from ..words.row_names import facets
from .legend import finish
from .panels import MOST_PANELS, make_panels
from .style import Style

PANEL = 1.75
#: Percent above and below what is drawn, so that noise does not fill a panel.
LEAST_ROOM = 1.0
#: More names than these of an axis do not fit beside each other.
MOST_FLAT = 7
#: {verdict: marker and whether it is hollow}; shapes, so that they can be read in grey.
LOOKS: dict[VersionVerdict | None, tuple[str, bool]] = {
    VersionVerdict.MORE: ("^", False),
    VersionVerdict.LESS: ("v", False),
    VersionVerdict.SAME: ("s", False),
    VersionVerdict.UNCLEAR: ("o", True),
    None: ("D", True),
}
COLOURS: dict[VersionVerdict | None, tuple[float, float, float]] = {
    VersionVerdict.MORE: (0.835, 0.369, 0.0),
    VersionVerdict.LESS: (0.0, 0.447, 0.698),
}
GREY = (0.35, 0.35, 0.35)


def by_workload(history: History) -> dict[str, list[Course]]:
    """Return {workload: courses of steps} that have something to draw."""
    found: dict[str, list[Course]] = {}
    for course in history.of(Quantity.STEP):
        if any(point.baseline for point in course.points):
            found.setdefault(course.line.cell.workload, []).append(course)
    return found


def draw(courses: Sequence[Course]) -> Figure:
    """Draw a panel for each line of one workload: the time over that of the baseline, with intervals and verdicts."""
    shown = list(courses)[:MOST_PANELS]
    figure, panels = make_panels([_name(course, shown) for course in shown], PANEL)
    verdicts: dict[VersionVerdict | None, None] = {}
    for axes, course in zip(panels, shown, strict=True):
        verdicts |= _draw_course(axes, course)
    missing = sum(not point.release.usable for course in shown for point in course.points)
    lines = [
        _(
            "{workload}: how much longer a step takes than with {version}, whose time is in the title, with 95% "
            "intervals",
            workload=shown[0].line.cell.workload,
            version=_versions(shown),
        ),
        _("markers: the verdict against the version before; crosses: versions without a time") if missing
        else _("markers: the verdict against the version before"),
    ]  # fmt: skip
    handles = [
        Line2D([], [], label=change_word(change, Quantity.STEP) or _("no verdict"), **_look(change))
        for change in LOOKS
        if change in verdicts
    ]
    return finish(figure, lines, handles)


def _name(course: Course, courses: Sequence[Course]) -> str:
    """Name a line by what tells it from the others, with the time of its baseline."""
    cell, cells = course.line.cell, [other.line.cell for other in courses]
    every = [facets(other) for other in cells]
    differing = [value for place, value in enumerate(facets(cell)) if len({one[place] for one in every}) > 1]
    families = {other.line.family for other in courses}
    base = next((p for p in course.points if p.release is course.baseline), None)
    parts = [*([course.line.family] if len(families) > 1 else []), cell.mode, *differing]
    if base is None or base.value is None:
        return ", ".join(parts)
    unit = choose_unit([base.value.value], TIMES)
    time = f"{format_value(base.value, unit.size)} {unit.name}"
    return f"{', '.join(parts)}: {time}"


def _versions(courses: Sequence[Course]) -> str:
    found = {course.baseline.version for course in courses if course.baseline}
    return found.pop() if len(found) == 1 else _("the oldest version")


def _draw_course(axes: Axes, course: Course) -> dict[VersionVerdict | None, None]:
    """Draw the versions of a line; return the verdicts that it shows."""
    axes.axhline(0.0, color="0.2", linewidth=0.6, zorder=1)
    known = [(place, *_share(point, course)) for place, point in enumerate(course.points) if _share(point, course)]
    axes.plot([one[0] for one in known], [one[1] for one in known], color="0.7", linewidth=0.8, zorder=2)
    verdicts: dict[VersionVerdict | None, None] = {}
    for place, value, low, high in known:
        point = course.points[int(place)]
        change = point.before.change if point.before else None
        if low is not None and high is not None:
            axes.plot([place, place], [low, high], color=COLOURS.get(change, GREY), linewidth=0.9, zorder=3)
        if point.before is None:
            axes.plot([place], [value], zorder=4, **Style((0.0, 0.0, 0.0), ".").point())
            continue
        verdicts[change] = None
        axes.plot([place], [value], zorder=4, **_look(change))
    for place, point in enumerate(course.points):
        if not point.release.usable:
            axes.plot([place], [0.0], marker="x", color="0.3", markersize=4, linestyle="none", zorder=4)
    _label(axes, course, [bound for one in known for bound in one[1:] if bound is not None])
    return verdicts


def _share(point: Point, course: Course) -> tuple[float, float | None, float | None] | tuple[()]:
    """Return how much more time it takes than the baseline, in percent, with the interval; nothing where unknown."""
    if point.release is course.baseline:
        return (0.0, None, None)
    if point.baseline is None:
        return ()
    ratio = point.baseline.ratio.estimate
    low, high = (None if bound is None else 100.0 * (bound - 1.0) for bound in (ratio.low, ratio.high))
    return 100.0 * (ratio.value - 1.0), low, high


def _label(axes: Axes, course: Course, shown: Sequence[float]) -> None:
    names = [point.release.version for point in course.points]
    slanted = len(names) > MOST_FLAT or max(map(len, names)) * len(names) > 5 * MOST_FLAT
    axes.set_xticks(range(len(names)), names, rotation=45 if slanted else 0, ha="right" if slanted else "center")
    axes.set_xlim(-0.5, len(names) - 0.5)
    low, high = min([*shown, 0.0]), max([*shown, 0.0])
    room = max(0.08 * (high - low), LEAST_ROOM)
    axes.set_ylim(low - room, high + room)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda value, _position: f"{general(round(value, 6)).replace('-', MINUS)}%")
    axes.grid(axis="y", color="0.88", linewidth=0.4, zorder=0.5)


def _look(change: VersionVerdict | None) -> dict[str, Any]:
    marker, hollow = LOOKS[change]
    return Style(COLOURS.get(change, GREY), marker).point(hollow=hollow)
