"""Writes how to read the numbers of a table: what intervals, ratios and verdicts are, and how large the noise is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...analysis.results import Result
from ...analysis.run_analysis import Analysis
from ...analysis.run_notes import noise_unknown
from ...analysis.stops import NOTHING, StopGroup, group_stops, reopened_rows, stopped_before_their_rows
from ...statistics.bootstrap import FEWEST_FOR_BOOTSTRAP, LEVEL, attainable_level
from ...statistics.noise import QUANTILE, NoiseFloor
from ...statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from ...storage.manifest import MOST_ROUNDS, SETTLED, Manifest
from .labels import labels_of, with_label
from .language import _, ngettext
from .notes import in_words
from .numbers import format_share, percent
from .terms import enumerate_names, rounds
from .text import shorten
from .verdicts import MARKS

#: Characters of a list of rows.
LIST_LENGTH = 200


def cpu_remark(results: Iterable[Result]) -> str:
    """Say what the processor time of a step is."""
    if all(result.cpu_s is None for result in results):
        return ""
    return _(
        "CPU: processor time of one step, summed over threads; in parentheses the processors that it keeps busy. "
        "A thread that waits in a loop uses processor time, too."
    )


def latency_remark(results: Iterable[Result]) -> str:
    """Say what the two times of single steps are."""
    if all(result.latency is None for result in results):
        return ""
    return _("p50 / p99: median and 99% quantile of steps that were timed one by one; medians over processes.")


def interval_remark(results: Iterable[Result]) -> str:
    """Say what the intervals are, and what they are where there are few processes."""
    fewest = min((result.step.n for result in results if result.step is not None), default=0)
    if not fewest:
        return ""
    if fewest == 1:
        return _("Intervals: none, because a single process gives none.")
    text = _("Intervals: {level} bootstrap over processes.", level=percent(LEVEL))
    if attainable_level(fewest) >= LEVEL:
        return text
    few = _("With fewer than {processes} processes: Student's, on logarithms.", processes=FEWEST_FOR_BOOTSTRAP)
    return f"{text} {few}"


def ratio_remark(results: Iterable[Result]) -> str:
    """Say how the ratios are estimated."""
    if all(result.ratio is None for result in results):
        return ""
    return _(
        "Ratios: Hodges-Lehmann estimate and interval over pairs of processes that took turns; a pair contributes the "
        "median over its turns."
    )


def verdict_remark(analysis: Analysis, manifest: Manifest) -> str:
    """Explain the marks behind the ratios, or why there are none."""
    if all(result.comparison is None for result in analysis.results):
        return ""
    judged = sum(result.verdict is not None for result in analysis.results)
    if not judged:
        return _("No verdicts on the ratios: {lack}.", lack=_lack(manifest))
    text = f"{_marks()} {_method(analysis, manifest)} {_tails()}"
    missing = sum(result.comparison is not None and result.verdict is None for result in analysis.results)
    if not missing:
        return text
    few = ngettext(
        "{count} ratio has no verdict: {lack}.",
        "{count} ratios have no verdict: {lack}.",
        missing,
        lack=_lack(manifest),
    )
    return f"{text} {few}"


def _marks() -> str:
    different, equivalent, open_ = (MARKS[verdict] for verdict in Verdict)
    return _(
        "Verdicts: {different} different (equality is excluded, and the estimate is beyond the noise floor and "
        "{least}); {claimed} different, and fit to be claimed alone; {equivalent} equivalent (the {level} interval "
        "lies within ±{threshold}); {open} inconclusive.",
        different=different,
        claimed=2 * different,
        least=format_share(THRESHOLD / 2),
        equivalent=equivalent,
        level=percent(1 - ALPHA),
        threshold=format_share(THRESHOLD),
        open=open_,
    )


def _method(analysis: Analysis, manifest: Manifest) -> str:
    different = MARKS[Verdict.DIFFERENT]
    text = ngettext(
        "Exact signed-rank test over pairs of processes at {level}, over {count} comparison: by Benjamini-Hochberg for "
        "{different} and by Holm for {claimed}; equivalence is judged for each comparison alone.",
        "Exact signed-rank test over pairs of processes at {level}, over {count} comparisons: by Benjamini-Hochberg "
        "for {different} and by Holm for {claimed}; equivalence is judged for each comparison alone.",
        analysis.comparisons,
        level=percent(ALPHA),
        different=different,
        claimed=2 * different,
    )
    if len(manifest.looks) < 2:
        return text
    looks = enumerate_names(list(map(str, manifest.looks)))
    return f"{text} {_('The error is divided between looks after {looks} rounds.', looks=looks)}"


def _tails() -> str:
    return _(
        "The 90% quantiles are judged separately; a footnote gives their ratio and its interval where their verdict "
        "differs, or where the two intervals lie more than {threshold} apart.",
        threshold=format_share(THRESHOLD),
    )


def _lack(manifest: Manifest) -> str:
    """Say what a verdict needs."""
    if len(manifest.looks) < 2:
        return _("a verdict needs at least {pairs} pairs of processes", pairs=minimum_pairs())
    return _(
        "a verdict needs at least {pairs} pairs of processes, and more where the error is divided between looks; the "
        "first look is after {rounds} rounds",
        pairs=minimum_pairs(),
        rounds=manifest.looks[0],
    )


def stop_remark(results: Sequence[Result], manifest: Manifest) -> str:
    """Say after how many rounds the rows stopped, and why, where that was not fixed in advance."""
    groups = group_stops(results, manifest)
    if len(manifest.looks) < 2 and all(group.why == MOST_ROUNDS for group in groups):
        return ""
    clauses = [_stop_clause(group) for group in groups]
    early = stopped_before_their_rows(results, manifest)
    if early:
        clauses.append(
            ngettext(
                "{count} cell was settled at an earlier look than its row and stopped there",
                "{count} cells were settled at an earlier look than their rows and stopped there",
                early,
            )
        )
    undone = reopened_rows(results, manifest)
    if undone:
        clauses.append(
            _(
                "cells of {names} were settled and became inconclusive: later rounds of others moved the noise floor "
                "or the correction, or a cell was given up",
                names=shorten(enumerate_names(undone), LIST_LENGTH),
            )
        )
    return _("Rounds: {clauses}.", clauses="; ".join(clauses)) if clauses else ""


def _stop_clause(group: StopGroup) -> str:
    """Say how many rows stopped after so many rounds, and name those that stopped undecided."""
    why, count, after = group.why, len(group.rows), rounds(group.rounds)
    if why == SETTLED:
        return ngettext(
            "{count} row was settled after {rounds}", "{count} rows were settled after {rounds}", count, rounds=after
        )
    if why == NOTHING:
        return ngettext(
            "{count} row had nothing to compare and stopped after {rounds}",
            "{count} rows had nothing to compare and stopped after {rounds}",
            count,
            rounds=after,
        )
    listed = shorten(enumerate_names(list(group.rows)), LIST_LENGTH)
    if why == MOST_ROUNDS:
        return ngettext(
            "{count} row used all rounds of the profile, {rounds} ({names})",
            "{count} rows used all rounds of the profile, {rounds} ({names})",
            count,
            rounds=after,
            names=listed,
        )
    return ngettext(
        "{count} row stopped after {rounds}, when the time budget was spent ({names})",
        "{count} rows stopped after {rounds}, when the time budget was spent ({names})",
        count,
        rounds=after,
        names=listed,
    )


def noise_remark(analysis: Analysis, manifest: Manifest) -> str:
    """Give the noise floor, or say why it is not known."""
    unknown = noise_unknown(analysis, manifest)
    noise = analysis.noise
    labels = labels_of(analysis.results)
    if unknown is not None:
        return in_words([with_label(unknown, "column", labels)])[0]
    if noise.floor is None:
        return ""
    # A report of a part may show no cell of the column.
    column = noise.column or ""
    values = {
        "share": percent(QUANTILE),
        "column": labels[column].text if column in labels else column,
        "extent": _extent(noise.floor),
    }
    values["floor"] = format_share(noise.floor.value)
    parts = [
        _(
            "Noise floor: {share} of the ratios between identical cells lie within {floor}, measured with the A/A twin "
            "of {column}, {extent}.",
            **values,
        )
    ]
    if noise.tail_floor:
        parts.append(_("Of their 90% quantiles, within {floor}.", floor=format_share(noise.tail_floor.value)))
    parts.append(
        _("Twins have the same memory layouts. Cells of different programs cannot, and their ratios keep that noise.")
    )
    return " ".join(parts)


def _extent(floor: NoiseFloor) -> str:
    fewest, most = floor.fewest_pairs, floor.most_pairs
    pairs = f"{most}" if fewest == most else _("{fewest} to {most}", fewest=fewest, most=most)
    return ngettext("{count} row × {pairs} pairs", "{count} rows × {pairs} pairs", floor.comparisons, pairs=pairs)
