"""Makes the tables of what versions cost beside their steps: first calls, memory, and when faster steps pay off."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point
from ...storage.manifest import Manifest
from ..words.history import (
    baseline_of,
    format_change,
    format_steps,
    release_notes,
    release_word,
    versions_in_words,
)
from ..words.language import _
from ..words.numbers import MIB, TIMES, choose_unit, format_value, percent
from ..words.row_names import row_name, usual_facets
from ..words.terms import EXPECTED
from .table import Column, Entry, Group, Table, without_empty_columns

#: The cells of one row of a table, after the version.
Cells = Callable[[Point], tuple[Entry, ...]]


def tables(history: History, manifest: Manifest) -> tuple[Table, ...]:
    """Return a table for each kind of first call, for memory, and for break-even; some may have no rows."""
    prefix = f"{manifest.study.name}-versions"
    said = versions_in_words(history)
    return (
        _changes(
            history,
            Quantity.COLD_CALL,
            f"{prefix}-cold-calls",
            _("First calls, cold"),
            _("cold call"),
            _("{title}: first call in a new process, with an empty compilation cache.", title=said),
        ),
        _changes(
            history,
            Quantity.WARM_CALL,
            f"{prefix}-warm-calls",
            _("First calls, warm"),
            _("warm call"),
            _("{title}: first call in a new process, with a filled compilation cache.", title=said),
        ),
        _changes(
            history,
            Quantity.MEMORY,
            f"{prefix}-memory",
            _("Memory"),
            _("memory"),
            _("{title}: peak memory of the steps, without that of the import.", title=said),
        ),
        _break_even(history, f"{prefix}-break-even", said),
    )


def _changes(history: History, quantity: Quantity, name: str, title: str, value: str, caption: str) -> Table:
    """Make the table of one quantity: a group per workload and mode, a row per version."""
    courses = history.of(quantity)
    columns = (
        Column(_("version"), "left"),
        Column(value),
        Column(_("than the version before"), "left", wraps=True),
        Column(_("than {version}", version=baseline_of(courses)), "left", dispensable=1, wraps=True),
    )
    groups = tuple(_changes_of(history, course) for course in courses)
    return without_empty_columns(Table(name, title, caption, columns, groups))


def _changes_of(history: History, course: Course) -> Group:
    unit, size = "MiB", MIB
    if course.quantity.is_time:
        chosen = choose_unit([point.value.value for point in course.points if point.value], TIMES)
        unit, size = chosen.name, chosen.size
    return _group(history, course, ("", unit, "", ""), partial(_change_cells, course, size))


def _change_cells(course: Course, size: float, point: Point) -> tuple[Entry, ...]:
    baseline = point.release is course.baseline
    return (
        value_entry(point, format_value(point.value, size)),
        Entry(format_change(point.before, course.quantity)),
        Entry(_("baseline") if baseline else format_change(point.baseline, course.quantity)),
    )


def value_entry(point: Point, text: str) -> Entry:
    """Return the entry of a version's value; of a version that has none, why it has none."""
    if point.value is not None or point.release.usable:
        return Entry(text)
    word = release_word(point.release)
    return Entry(word, release_notes(point.release), alarm=point.release.status not in EXPECTED)


def _break_even(history: History, name: str, title: str) -> Table:
    """Make the table of steps after which a version leads the one before and the baseline."""
    courses = history.of(Quantity.STEP)
    base = baseline_of(courses)
    columns = (
        Column(_("version"), "left"),
        Column(_("cold: before")),
        Column(_("cold: {version}", version=base)),
        Column(_("warm: before")),
        Column(_("warm: {version}", version=base)),
    )

    def cells(point: Point) -> tuple[Entry, ...]:
        steps = (point.before, point.baseline)
        found = (history.break_even(point.release, step, cache) for cache in ("cold", "warm") for step in steps)
        return tuple(Entry(format_steps(one)) for one in found)

    groups = tuple(_group(history, course, ("", "", "", "", ""), cells) for course in courses)
    caption = _(
        "{title}, break-even: the steps after which a process of a version leads one of the version before, and of a "
        "baseline: (import + first call − the other's) / (the other's step time − step time), with a {level} interval, "
        "for a cold and for a warm compilation cache. Never: its steps are slower. No number: no difference is known.",
        title=title,
        level=percent(0.95),
    )
    return without_empty_columns(Table(name, _("Break-even"), caption, columns, groups))


def _group(history: History, course: Course, units: tuple[str, ...], cells: Cells) -> Group:
    results = [point.release.result for other in history.of(Quantity.STEP) for point in other.points]
    heading = Entry(f"{row_name(course.line.cell, usual_facets(results))}, {course.line.cell.mode}")
    return Group(heading, units, tuple((Entry(point.release.version), *cells(point)) for point in course.points))
