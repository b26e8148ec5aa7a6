"""Makes the tables of versions: their times, what they cost before the first step, and what was installed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point
from ...analysis.releases import Release
from ...analysis.run_analysis import Analysis
from ...analysis.versions import versions_of
from ...statistics.verdict import ALPHA, THRESHOLD
from ...storage.manifest import Manifest
from ..words.caption import describe_conditions
from ..words.history import baseline_of, format_change, release_notes, step_notes, versions_in_words
from ..words.language import _
from ..words.numbers import TIMES, Unit, choose_unit, format_number, format_value, percent
from ..words.remarks import noise_remark
from ..words.row_names import row_name, shared_facets, usual_facets
from ..words.text import EMPTY
from . import release_costs
from .table import Column, Entry, Group, Table, remarks, without_empty_columns

GB = 1e9


def tables(history: History, manifest: Manifest) -> tuple[Table, ...]:
    """Return the tables that have rows: times, costs, installations."""
    made = (times(history, manifest), *release_costs.tables(history, manifest), installations(history, manifest))
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
        Column(_("than {version}", version=baseline_of(courses)), "left", dispensable=1, wraps=True),
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


def _time_row(point: Point, course: Course, unit: Unit) -> tuple[Entry, ...]:
    return (
        Entry(point.release.version),
        _time_value(point, unit),
        Entry(format_change(point.before, Quantity.STEP), step_notes(point, course)),
        Entry(_("baseline") if point.release is course.baseline else format_change(point.baseline, Quantity.STEP)),
    )


def _time_value(point: Point, unit: Unit) -> Entry:
    entry = release_costs.value_entry(point, format_value(point.value, unit.size))
    return replace(entry, notes=release_notes(point.release)) if point.release.usable else entry


def installations(history: History, manifest: Manifest) -> Table:
    """Make the table of what was installed: a group per family, a row per version."""
    packages = versions_of(history.analysis.results)
    courses = [*history.of(Quantity.IMPORT), *history.of(Quantity.DISK)]
    first = baseline_of(courses)
    against = _("than {version}", version=first)
    columns = (
        Column(_("version"), "left"),
        Column("Python", "left"),
        Column("NumPy", "left"),
        Column(_("import")),
        Column(_("than before"), "left", wraps=True),
        Column(against, "left", dispensable=1, wraps=True, name=_("import against {version}", version=first)),
        Column(_("on disk")),
        Column(_("than before"), "left", wraps=True),
        Column(against, "left", dispensable=1, wraps=True, name=_("size against {version}", version=first)),
    )
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
            rows.append(
                (Entry(release.version), *about, *_installed(own[0], release, 1.0), *_installed(own[1], release, GB))
            )
        groups.append(Group(Entry(family), ("", "", "", "s", "", "", "GB", "", ""), tuple(rows)))
        changed += _interpreter_changes(line.releases, history.analysis)
    caption = _(
        "Environments of {title}: the interpreter, NumPy, the time of the import, and the size on the disk.",
        title=versions_in_words(history),
    )
    name = f"{manifest.study.name}-versions-environments"
    return without_empty_columns(Table(name, _("Environments"), caption, columns, tuple(groups), tuple(changed)))


def _installed(course: Course | None, release: Release, size: float) -> tuple[Entry, Entry, Entry]:
    points = () if course is None else course.points
    point = next((one for one in points if one.release.environment == release.environment), None)
    if course is None or point is None:
        return Entry(EMPTY), Entry(""), Entry("")
    value = release_costs.value_entry(point, format_number(point.value.value / size if point.value else None))
    before, baseline = (Entry(format_change(step, course.quantity)) for step in (point.before, point.baseline))
    return value, before, baseline


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
