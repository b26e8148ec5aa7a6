"""Makes the table that answers whether to upgrade: a row per workload, a column per version, and what stands out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ...analysis.release_history import History
from ...analysis.release_values import Quantity
from ...analysis.release_verdicts import Course, Point, Step, VersionVerdict, settled_too_early
from ...statistics.verdict import ALPHA, THRESHOLD
from ...storage.manifest import Manifest
from ..words.history import (
    format_change,
    format_percent,
    release_notes,
    release_word,
    versions_in_words,
)
from ..words.language import _, ngettext
from ..words.numbers import TIMES, choose_unit, format_value, percent
from ..words.row_names import row_name, shared_facets, usual_facets
from ..words.terms import enumerate_names
from .table import Column, Entry, Group, Table, remarks

#: The signs of the other tables.
MARKS = {VersionVerdict.MORE: "*", VersionVerdict.LESS: "*", VersionVerdict.SAME: "≈", VersionVerdict.UNCLEAR: "?"}
#: Changes from one version to the next that a sentence names, at most.
NAMED = 3


def overviews(history: History, manifest: Manifest) -> tuple[Table, ...]:
    """Return a table per family of versions."""
    families: dict[str, list[Course]] = {}
    for course in history.of(Quantity.STEP):
        families.setdefault(course.line.family, []).append(course)
    return tuple(_overview(family, courses, history, manifest) for family, courses in families.items())


def _overview(family: str, courses: Sequence[Course], history: History, manifest: Manifest) -> Table:
    versions = [version for of, version in history.environments.values() if of == family]
    results = [point.release.result for course in courses for point in course.points]
    usual = usual_facets(results)
    modes: dict[str, list[Course]] = {}
    for course in courses:
        modes.setdefault(course.line.cell.mode, []).append(course)
    return Table(
        f"{manifest.study.name}-{family}-upgrade",
        _("Overview"),
        _(
            "{title}: the time per step of the baseline, and how much longer a step takes with the other versions "
            "({conditions}).",
            title=versions_in_words(history, family),
            conditions=shared_facets(results),
        ),
        (Column(_("workload"), "left"), *(Column(version, dispensable=n) for n, version in enumerate(versions))),
        tuple(
            Group(
                Entry(mode),
                ("",) * (len(versions) + 1),
                tuple(
                    (Entry(row_name(course.line.cell, usual)), *(_entry(course, version) for version in versions))
                    for course in of_mode
                ),
            )
            for mode, of_mode in modes.items()
        ),
        remarks(
            *(sentence for mode, of_mode in modes.items() for sentence in _answer(mode, of_mode)),
            _steps(courses),
            _rounds_needed(history),
            _settled_early(courses, history),
            _marks(point.baseline for course in courses for point in course.points),
        ),
    )


def _entry(course: Course, version: str) -> Entry:
    point = next((one for one in course.points if one.release.version == version), None)
    if point is None:
        return Entry("")
    if not point.release.usable:
        return Entry(release_word(point.release), release_notes(point.release), alarm=True)
    if point.release is course.baseline:
        unit = choose_unit([point.value.value] if point.value else [], TIMES)
        return Entry(f"{format_value(point.value, unit.size)} {unit.name}")
    if point.baseline is None:
        return Entry("")
    return Entry(format_percent(point.baseline.ratio.estimate, interval=False) + _mark(point.baseline.change))


def _answer(mode: str, courses: Sequence[Course]) -> Iterable[str]:
    """Say how the newest version compares with the baseline, where they have times in common."""
    newest = [course.points[-1] for course in courses]
    steps = [point.baseline for point in newest if point.baseline is not None]
    missing = sum(not point.release.usable for point in newest)
    if not steps and not missing:
        # The newest version is the baseline.
        return
    bases = {step.other.version for step in steps}
    counts = Counter(step.change for step in steps)
    words = [
        (VersionVerdict.LESS, _("faster in {count}", count=counts[VersionVerdict.LESS])),
        (VersionVerdict.MORE, _("slower in {count}", count=counts[VersionVerdict.MORE])),
        (VersionVerdict.SAME, _("the same in {count}", count=counts[VersionVerdict.SAME])),
        (VersionVerdict.UNCLEAR, _("unclear in {count}", count=counts[VersionVerdict.UNCLEAR])),
        (None, _("without a verdict in {count}", count=counts[None])),
    ]
    said = [word for change, word in words if counts[change]]
    said += [_("without a time in {count}", count=missing)] if missing else []
    yield ngettext(
        "{framework} {newest} {mode} against {oldest}, of {count} row: {counts}.",
        "{framework} {newest} {mode} against {oldest}, of {count} rows: {counts}.",
        len(courses),
        framework=courses[0].line.product,
        newest=newest[0].release.version,
        mode=mode,
        oldest=bases.pop() if len(bases) == 1 else _("the oldest version"),
        counts=enumerate_names(said),
    )


def _steps(courses: Sequence[Course]) -> str:
    """Name the largest slowdowns from a version to the next."""
    found: list[tuple[float, Course, Point, Step]] = [
        (point.before.ratio.estimate.value, course, point, point.before)
        for course in courses
        for point in course.points
        if point.before is not None and point.before.change is VersionVerdict.MORE
    ]
    if not found:
        return ""
    usual = usual_facets([point.release.result for course in courses for point in course.points])
    named = [
        _(
            "{workload} {mode} with {version}: {change}",
            workload=row_name(course.line.cell, usual),
            mode=course.line.cell.mode,
            version=point.release.version,
            change=format_change(step, Quantity.STEP),
        )
        for _ratio, course, point, step in sorted(found, key=lambda one: -one[0])[:NAMED]
    ]
    return _("Largest slowdowns from a version to the next: {steps}.", steps="; ".join(named))


def _rounds_needed(history: History) -> str:
    """Say how many rounds verdicts need where there are too few."""
    if history.most_pairs >= history.needed_rounds:
        return ""
    if not history.comparisons.get(Quantity.STEP, 0):
        return _("No two versions have times that can be compared.")
    return ngettext(
        "This run has {count} round. Among {comparisons} comparisons a difference can be significant from "
        "{needed} rounds on; fewer versions, workloads or modes need fewer rounds.",
        "This run has {count} rounds. Among {comparisons} comparisons a difference can be significant from "
        "{needed} rounds on; fewer versions, workloads or modes need fewer rounds.",
        history.most_pairs,
        comparisons=history.comparisons[Quantity.STEP],
        needed=history.needed_rounds,
    )


def _settled_early(courses: Sequence[Course], history: History) -> str:
    """Say how many differences are unclear because their cells stopped early, and what makes them certain."""
    found = settled_too_early(courses, history.analysis.noise.fraction)
    if not found or history.most_pairs < history.needed_rounds:
        return ""
    more = 1 + max(step.ratio.estimate.n for step in found)
    return ngettext(
        "{count} difference is not certain because a cell stopped early: the profile ends a cell when its verdict "
        "against the run's baseline is settled. A fixed number of rounds, {needed} or more, can make it certain.",
        "{count} differences are not certain because cells stopped early: the profile ends a cell when its verdict "
        "against the run's baseline is settled. A fixed number of rounds, {needed} or more, can make them certain.",
        len(found),
        needed=max(history.fixed_rounds, more),
    )


def _mark(change: VersionVerdict | None) -> str:
    """Return the mark of a verdict where there is no room for its word."""
    return "" if change is None else MARKS[change]


def _marks(steps: Iterable[Step | None]) -> str:
    """Explain the marks that stand at these comparisons."""
    used = {_mark(step.change) for step in steps if step is not None}
    explained = {
        "*": _("* different, certain at {alpha}", alpha=percent(ALPHA)),
        "≈": _("≈ equal within {threshold}", threshold=percent(THRESHOLD)),
        "?": _("? unclear"),
    }
    return "; ".join(text for mark, text in explained.items() if mark in used)
