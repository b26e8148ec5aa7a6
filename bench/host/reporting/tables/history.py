"""Makes the tables of versions: their times, what they cost before the first step, and what was installed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point
from ...analysis.releases import Release
from ...analysis.run_analysis import Analysis
from ...analysis.versions import versions_of
from ...statistics.verdict import ALPHA, THRESHOLD
from ...storage.manifest import Manifest
from ..words.caption import describe_conditions
from ..words.history import format_change, release_notes, release_word, step_notes, versions_in_words
from ..words.language import _
from ..words.numbers import MIB, TIMES, Unit, choose_unit, format_number, format_value, percent
from ..words.remarks import noise_remark
from ..words.row_names import row_name, shared_facets, usual_facets
from ..words.terms import EXPECTED
from ..words.text import EMPTY
from .table import Column, Entry, Group, Table, remarks, without_empty_columns

GB = 1e9


def tables(history: History, manifest: Manifest) -> tuple[Table, ...]:
    """Return the tables that have rows: times, costs, installations."""
    made = (times(history, manifest), costs(history, manifest), installations(history, manifest))
    return tuple(table for table in made if table.groups)


def times(history: History, manifest: Manifest) -> Table:
    """Make the table of step times: a group per workload and mode, a row per version."""
    courses = history.of(Quantity.STEP)
    results = [point.release.result for course in courses for point in course.points]
    usual = usual_facets(results) if results else ()
    columns = (
        Column(_("version"), "left"),
        Column(_("time")),
        Column(_("than the version before"), "left", wraps=True),
        Column(_("than {version}", version=_baseline_of(courses)), "left", dispensable=1, wraps=True),
    )
    groups = []
    for course in courses:
        unit = choose_unit([point.value.value for point in course.points if point.value], TIMES)
        heading = Entry(f"{row_name(course.line.cell, usual)}, {course.line.cell.mode}")
        groups.append(Group(heading, ("", unit.name, "", ""), tuple(_time_row(p, course, unit) for p in course.points)))
    caption = _(
        "{title}: seconds per step of each version, and how much longer its steps take than those of the version "
        "before and of a baseline, in percent with a {level} interval.",
        title=versions_in_words(history),
        level=percent(0.95),
    )
    shared = _("All rows: {conditions}.", conditions=shared_facets(results)) if results else ""
    table = Table(
        f"{manifest.study.name}-versions",
        _("Versions"),
        " ".join(filter(None, (caption, shared, describe_conditions(manifest, results)))),
        columns,
        tuple(groups),
        remarks(verdict_remark(history), noise_remark(history.analysis, manifest)),
    )
    return without_empty_columns(table)


def verdict_remark(history: History) -> str:
    """Say what the verdicts mean."""
    count = history.comparisons.get(Quantity.STEP, 0)
    if not count:
        return ""
    return _(
        "Slower, faster: a difference, by the exact signed-rank test over pairs of processes that took turns. "
        "Same: the {level} interval lies within {threshold}. Unclear: neither. The p values of all {count} "
        "comparisons are adjusted together (Holm): the chance of a single false difference is at most {alpha}.",
        level=percent(1.0 - ALPHA),
        threshold=percent(THRESHOLD),
        count=count,
        alpha=percent(ALPHA),
    )


def _baseline_of(courses: Iterable[Course]) -> str:
    """Name the version that all are compared with, where it is the same one everywhere."""
    found = {course.baseline.version for course in courses if course.baseline is not None}
    return found.pop() if len(found) == 1 else _("the oldest version")


def _time_row(point: Point, course: Course, unit: Unit) -> tuple[Entry, ...]:
    return (
        _name(point.release),
        _value(point, format_value(point.value, unit.size)),
        Entry(format_change(point.before, Quantity.STEP), step_notes(point, course)),
        Entry(_("baseline") if point.release is course.baseline else format_change(point.baseline, Quantity.STEP)),
    )


def _name(release: Release) -> Entry:
    return Entry(release.version)


def _value(point: Point, text: str) -> Entry:
    if point.release.usable:
        return Entry(text, release_notes(point.release))
    word = release_word(point.release)
    return Entry(word, release_notes(point.release), alarm=point.release.status not in EXPECTED)


def costs(history: History, manifest: Manifest) -> Table:
    """Make the table of first calls and memory, each against the version before."""
    quantities = (Quantity.COLD_CALL, Quantity.WARM_CALL, Quantity.MEMORY)
    titles = (_("cold call"), _("warm call"), _("memory"))
    results = [point.release.result for course in history.of(Quantity.STEP) for point in course.points]
    usual = usual_facets(results) if results else ()
    before = _("than before")
    columns = [Column(_("version"), "left")]
    for number, title in enumerate(titles):
        unimportant = 2 if quantities[number] is Quantity.WARM_CALL else 0
        columns += [
            Column(title, dispensable=unimportant),
            Column(before, "left", dispensable=unimportant, wraps=True),
        ]
    groups = []
    for course in history.of(Quantity.STEP):
        own = [_same_line(history, quantity, course) for quantity in quantities]
        if not any(own):
            continue
        rows = tuple(
            (_name(point.release), *(entry for found in own for entry in _cost(found, point.release)))
            for point in course.points
        )
        heading = Entry(f"{row_name(course.line.cell, usual)}, {course.line.cell.mode}")
        groups.append(Group(heading, ("", "s", "", "s", "", "MiB", ""), rows))
    caption = _(
        "{title}: first call in a new process with a cold and with a warm compilation cache, and peak memory of the "
        "steps, each with the difference to the version before.",
        title=versions_in_words(history),
    )
    table = Table(
        f"{manifest.study.name}-versions-costs", _("First calls and memory"), caption, tuple(columns), tuple(groups)
    )
    return without_empty_columns(table)


def _same_line(history: History, quantity: Quantity, course: Course) -> Course | None:
    return next((other for other in history.of(quantity) if other.line is course.line), None)


def _cost(course: Course | None, release: Release) -> tuple[Entry, Entry]:
    point = None if course is None else next(one for one in course.points if one.release is release)
    if course is None or point is None or point.value is None:
        return Entry(EMPTY), Entry("")
    size = MIB if course.quantity is Quantity.MEMORY else 1.0
    return Entry(format_number(point.value.value / size)), Entry(format_change(point.before, course.quantity))


def installations(history: History, manifest: Manifest) -> Table:
    """Make the table of what was installed: a group per family, a row per version."""
    packages = versions_of(history.analysis.results)
    columns = (
        Column(_("version"), "left"),
        Column("Python", "left"),
        Column("NumPy", "left"),
        Column(_("import")),
        Column(_("than before"), "left", wraps=True),
        Column(_("on disk")),
        Column(_("than before"), "left", wraps=True),
    )
    courses = [*history.of(Quantity.IMPORT), *history.of(Quantity.DISK)]
    families = {course.line.family: course.line for course in courses}
    groups, changed = [], []
    for family, line in families.items():
        own = [
            next((c for c in history.of(quantity) if c.line.family == family), None)
            for quantity in (Quantity.IMPORT, Quantity.DISK)
        ]
        rows = []
        for release in line.releases:
            found = packages.get(release.environment, {})
            about = (Entry(", ".join(found.get(name, ())) or EMPTY) for name in ("python", "numpy"))
            rows.append((_name(release), *about, *_installed(own[0], release, 1.0), *_installed(own[1], release, GB)))
        groups.append(Group(Entry(family), ("", "", "", "s", "", "GB", ""), tuple(rows)))
        changed += _interpreter_changes(line.releases, history.analysis)
    caption = _(
        "Environments of {title}: the interpreter, NumPy, the time of the import, and the size on the disk.",
        title=versions_in_words(history),
    )
    name = f"{manifest.study.name}-versions-environments"
    return without_empty_columns(Table(name, _("Environments"), caption, columns, tuple(groups), tuple(changed)))


def _installed(course: Course | None, release: Release, size: float) -> tuple[Entry, Entry]:
    points = () if course is None else course.points
    point = next((one for one in points if one.release.environment == release.environment), None)
    if course is None or point is None or point.value is None:
        return Entry(EMPTY), Entry("")
    return Entry(format_number(point.value.value / size)), Entry(format_change(point.before, course.quantity))


def _interpreter_changes(releases: Sequence[Release], analysis: Analysis) -> list[str]:
    """Say between which versions the interpreter changes, too."""
    packages = versions_of(analysis.results)
    known = [
        (one.version, ".".join(python[0].split(".")[:2]))
        for one in releases
        if (python := packages.get(one.environment, {}).get("python"))
    ]
    return [
        _(
            "From {older} to {newer} Python changes, too, from {before} to {after}: the interpreter's speed is part of "
            "the difference.",
            older=older,
            newer=newer,
            before=before,
            after=after,
        )
        for (older, before), (newer, after) in itertools.pairwise(known)
        if before != after
    ]
