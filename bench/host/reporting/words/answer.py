"""Says in a few sentences what a table of speed-ups shows: what is fastest, its quality, its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from rich.cells import cell_len

from ...analysis.fairness import slow_library
from ...analysis.quality import Quality
from ...analysis.results import Result
from ...analysis.speed_ups import Grades, Track
from ...statistics.bootstrap import FEWEST_FOR_BOOTSTRAP
from ...statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from ...storage.manifest import BUDGET, Manifest
from ...study.baseline import BEST, CHOSEN, PREVIOUS
from .labels import Labels
from .language import _, ngettext
from .numbers import format_factor, percent
from .quality import meaning
from .row_names import threads_in_words
from .run_notes import part_of_run
from .terms import enumerate_names, status_word

#: One mark for each grade but the best; a disturbed time is not shown at all.
MARKS = {Quality.CLEAN: "", Quality.NOISY: "~", Quality.UNSTEADY: "^", Quality.DISTURBED: ""}
WITHHELD = "-"
#: At the heading of a column whose ratios other settings than the baseline's may explain.
EXPLAINED = "°"
#: Letters of a line of the screen.
SCREEN = 80
#: Decimals of a mean at least: two means are often close.
HUNDREDTHS = 2
#: Settings that are named at most; the table of settings has all of them.
NAMED = 3
#: One mark for each verdict that says something.
VERDICTS: Mapping[Verdict | None, str] = {Verdict.DIFFERENT: "*", Verdict.EQUIVALENT: "≈"}


def usable(result: Result, grades: Grades) -> bool:
    """Tell whether a cell has a time that may be compared."""
    grade = grades[result.cell]
    return grade is not None and grade.usable


def banner(grades: Grades, manifest: Manifest) -> str:
    """Say first that the machine was busy, where times are withheld, or that a trial has no times."""
    if manifest.profile.trial:
        return _("A trial: it checks the cells, and its times mean nothing.")
    found = [grade for grade in grades.values() if grade is not None]
    lost = found.count(Quality.DISTURBED)
    if not lost:
        return ""
    return _(
        "The machine was busy: {lost} of {count} cells cannot be used ({mark}; their times are in the details). Close "
        "other programs and run again, or add --wait 10m.",
        lost=lost,
        count=len(found),
        mark=WITHHELD,
    )


def alarm(manifest: Manifest) -> list[str]:
    """Say in one line what makes the whole run doubtful: another environment than the lock's, damage, an early end."""
    clauses = []
    changed = sorted(manifest.changed_environments)
    if manifest.changed_sources:
        changed.append(_("the programs"))
    if changed:
        names = enumerate_names(changed)
        clauses.append(_("Changed while it was measured: {environments}.", environments=names))
    if manifest.damaged:
        clauses.append(
            ngettext(
                "{count} damaged line of the journal was left out.",
                "{count} damaged lines of the journal were left out.",
                len(manifest.damaged),
            )
        )
    if not manifest.finished:
        clauses.append(_("Partial: the run has not finished."))
    rows = sum(stop.rounds == 0 and stop.why == BUDGET for stop in manifest.stopped.values())
    if rows:
        # The first table has no line for what was not run.
        clauses.append(
            ngettext(
                "The time budget was spent before {count} row had a whole round.",
                "The time budget was spent before {count} rows had a whole round.",
                rows,
            )
        )
    return [" ".join(clauses)] if clauses else []


def part(manifest: Manifest) -> list[str]:
    """Say how many cells are hidden, where a part of a run is shown."""
    return [part_of_run(manifest.hidden_cells)] if manifest.hidden_cells else []


def fastest(
    track: Track | None,
    several: bool,
    baseline: str,
    labels: Labels,
    leaders: Collection[str] = (),
    *,
    as_ratios: bool = False,
) -> list[str]:
    """Say which column is fastest on average, and which of another version is next, by the means of a track.

    The row of the means says over what they are; ``several`` tracks have one each. The ``leaders`` are the columns
    that may be the fastest by the intervals of the ranking, which few rows make wide; then their number is told.
    ``as_ratios`` says how long they take, as the table does.
    """
    # Means over versions of their own do not compare the columns.
    if track is None or len(track.means) < 2 or baseline == PREVIOUS:
        return []
    first, *others = sorted(track.means, key=lambda column: track.means[column], reverse=True)
    # Another mode of the same version says less.
    apart = [column for column in others if labels[column].release != labels[first].release]
    close = [column for column in others if column in leaders]
    # Where the baseline is not as fast, its factor of 1 says nothing beside that of the first.
    next_ones = [column for column in apart if column != baseline]
    second = next((column for column in close if column in apart), (close or next_ones or others)[0])
    rows = ngettext("{count} row", "{count} rows", track.rows)
    shown = {column: 1.0 / mean if as_ratios else mean for column, mean in track.means.items()}
    said = {"column": labels[first].short, "factor": format_factor(shown[first], HUNDREDTHS)}
    said |= {"other": labels[second].short, "next": format_factor(shown[second], HUNDREDTHS)}
    said["over"] = f" ({rows}, {threads_in_words(track.threads)})" if several else ""
    if baseline == BEST and as_ratios:
        return [_("Fastest on average: {column} takes {factor} times as long as the best{over}.", **said)]
    if baseline == BEST:
        said["share"] = percent(track.means[first])
        return [_("Fastest on average: {column}, {share} of the best's speed{over}.", **said)]
    if second in leaders and not several and track.rows < FEWEST_FOR_BOOTSTRAP:
        return [_("Fastest on average: {column} {factor} or {other} {next} (unclear: {rows}).", rows=rows, **said)]
    if second in leaders:
        return [_("Fastest on average: {column} {factor} or {other} {next} (unclear){over}.", **said)]
    if as_ratios and first == baseline:
        return [_("Fastest on average: {column}; next {other}, {next} times as long{over}.", **said)]
    if as_ratios:
        return [_("Fastest on average: {column} takes {factor} times as long; {other} {next}{over}.", **said)]
    if first == baseline:
        return [_("Fastest on average: {column}; next {other}, {next} times as fast{over}.", **said)]
    # The next one shows how close it is.
    return [_("Fastest on average: {column}, {factor} times as fast; {other} {next}{over}.", **said)]


def legend(grades: Grades) -> list[str]:
    """Explain the marks that occur, in one line."""
    found = [grade for grade in grades.values() if grade is not None]
    clauses = [
        _("{mark} {meaning} ({count})", mark=MARKS[grade], meaning=meaning(grade), count=number)
        for grade in (Quality.NOISY, Quality.UNSTEADY)
        if (number := found.count(grade))
    ]
    return ["   ".join(clauses)] if clauses else []


def verdicts(results: Sequence[Result], grades: Grades) -> list[str]:
    """Explain and count the verdicts, in one line."""
    judged = [result.verdict for result in results if result.verdict is not None and usable(result, grades)]
    if not judged:
        return []
    return [
        _(
            "{different} different, certain at {level} ({firm} of {count})   "
            "{equivalent} equal within {margin} ({equal})",
            different=VERDICTS[Verdict.DIFFERENT],
            level=percent(ALPHA),
            firm=judged.count(Verdict.DIFFERENT),
            count=len(judged),
            equivalent=VERDICTS[Verdict.EQUIVALENT],
            margin=percent(THRESHOLD),
            equal=judged.count(Verdict.EQUIVALENT),
        )
    ]


def no_verdicts(compared: Sequence[Result], baseline: str, manifest: Manifest) -> list[str]:
    """Say how to get verdicts, where there are none."""
    if not compared or any(result.verdict is not None for result in compared):
        return []
    if baseline == BEST:
        return [_("No verdicts: the best is chosen by the same data; compare with a column.")]
    # So many there are before the first look.
    rounds = manifest.profile.rounds or 0
    if rounds >= minimum_pairs() and not manifest.finished and manifest.budget_s is None:
        return [_("No verdicts: they take {pairs} whole rounds; the same command continues the run.", pairs=rounds)]
    if rounds >= minimum_pairs():
        return [_("No verdicts: they take {pairs} whole rounds; give a larger --budget, or none.", pairs=rounds)]
    return [_("No verdicts: they take {pairs} rounds; use --profile standard.", pairs=minimum_pairs())]


def other_baseline(results: Sequence[Result], baseline: str) -> list[str]:
    """Say how to get ratios where the baseline, a column, was measured and has no time at all."""
    timed = Counter(result.cell.column for result in results if result.step is not None)
    if baseline in (*CHOSEN, *timed) or not timed:
        return []
    (column, _count), *_others = timed.most_common(1)
    return [_("No ratios: {baseline} has no time. Give --baseline {column}.", baseline=baseline, column=column)]


def settings(explained: Mapping[str, Sequence[str]]) -> list[str]:
    """Name the settings that may explain ratios, ``explained`` by column; the table of settings has their values."""
    names = list(dict.fromkeys(name for own in explained.values() for name in own))
    if not names:
        return []
    for number in range(min(NAMED, len(names)), 0, -1):
        listed = ", ".join(names[:number]) + (", …" if len(names) > number else "")
        text = _("{mark} Settings that may matter differ: {settings}.", mark=EXPLAINED, settings=listed)
        text = text.replace("….", "…")
        if cell_len(text) <= SCREEN:
            break
    return [text]


def slow_kernels(results: Sequence[Result]) -> list[str]:
    """Say where a library computes more slowly than it could, which is no merit of the other columns."""
    products: dict[str, dict[str, None]] = {}
    for result in results:
        library = None if result.step is None else slow_library(result)
        if library is not None:
            products.setdefault(library, {})[result.names.product] = None
    return [
        _(
            "{library} ({products}) is not at its fastest on this CPU: benchmatrix's docs/fairness.md.",
            library=library,
            products=enumerate_names(list(own)),
        )
        for library, own in products.items()
    ]


def failures(results: Sequence[Result]) -> list[str]:
    """Count the cells without a time, by status."""
    missing = Counter(result.status for result in results if result.step is None)
    if not missing:
        return []
    listed = ", ".join(f"{number} {status_word(status)}" for status, number in missing.most_common())
    return [_("Without a time: {listed}; the reasons are in the details.", listed=listed)]
