"""Knows how a reader shall read the numbers: what intervals, ratios and verdicts are, and what the noise is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...analysis.fairness import enumerate_names
from ...analysis.results import MARKS, Result
from ...analysis.run_analysis import Analysis
from ...statistics.bootstrap import LEVEL, attainable_level
from ...statistics.noise import QUANTILE, NoiseFloor
from ...statistics.verdict import ALPHA, THRESHOLD, Verdict, minimum_pairs
from ...storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Manifest
from ..tables.table import shorten
from .numbers import count, format_share

#: A row that stops since no two of its cells are compared: the baseline is not there.
NOTHING = "nothing to compare"
#: Characters of a list of rows.
LIST_LENGTH = 200


def interval_remark(results: Iterable[Result]) -> str:
    """Say what the intervals are, and what they cannot be where there are few processes."""
    fewest = min((result.step.n for result in results if result.step is not None), default=0)
    if not fewest:
        return ""
    text = f"Intervals: {LEVEL:.0%} bootstrap over processes."
    if fewest == 1:
        return f"{text} One process gives none."
    if attainable_level(fewest) < LEVEL:
        text += f" Those from {fewest} processes are their range, which covers the true median in at most "
        text += f"{attainable_level(fewest):.0%} of cases."
    return text


def ratio_remark(results: Iterable[Result]) -> str:
    """Say how the ratios are estimated."""
    if all(result.ratio is None for result in results):
        return ""
    return (
        "Ratios: Hodges-Lehmann estimate and bootstrap interval over pairs of processes that took turns, "
        "from the median over the turns of each pair."
    )


def verdict_remark(analysis: Analysis, manifest: Manifest) -> str:
    """Explain the marks behind the ratios, or why there are none."""
    if not analysis.comparisons:
        return ""
    judged = sum(result.verdict is not None for result in analysis.results)
    if not judged:
        return f"No verdicts on the ratios: {_lack(manifest)}."
    different, equivalent, open_ = (MARKS[verdict] for verdict in Verdict)
    text = (
        f"Verdicts: {different} different (equality is excluded, and the estimate is beyond the noise floor "
        f"and {format_share(THRESHOLD / 2)}), "
        f"{2 * different} different, and fit to be claimed, {equivalent} equivalent (the {1 - ALPHA:.0%} interval lies "
        f"within ±{format_share(THRESHOLD)}), {open_} inconclusive; exact signed-rank test over pairs of processes at "
        f"{ALPHA:.0%}, over {count(analysis.comparisons, 'comparison')} by Benjamini-Hochberg for {different}, which "
        f"screens, and by Holm for {2 * different}; equivalence is judged by each comparison alone"
    )
    if len(manifest.looks) > 1:
        text += f", the error divided between looks after {enumerate_names(list(map(str, manifest.looks)))} rounds"
    text += ". The 90% quantiles are judged apart; a footnote gives their ratio, with the interval that decides, where "
    text += f"their verdict is another, or the two intervals lie apart by more than {format_share(THRESHOLD)}."
    missing = analysis.comparisons - judged
    return f"{text} {count(missing, 'ratio')} without a verdict: {_lack(manifest)}." if missing else text


def _lack(manifest: Manifest) -> str:
    """Say what a verdict needs."""
    text = f"it takes at least {minimum_pairs()} pairs of processes"
    if len(manifest.looks) < 2:
        return text
    return f"{text}, more as the error is divided between looks, and the first look is after {manifest.looks[0]} rounds"


def stop_remark(results: Sequence[Result], manifest: Manifest) -> str:
    """Say after how many rounds the rows stopped, and why, where that was not settled in advance."""
    rows: dict[tuple[str, int], list[str]] = {}
    compared = {result.cell.row for result in results if result.comparison is not None}
    for row, stop in manifest.stopped.items():
        why = NOTHING if stop.why == SETTLED and row not in compared else stop.why
        rows.setdefault((why, stop.rounds), []).append(row)
    if len(manifest.looks) < 2 and all(why == MOST_ROUNDS for why, _ in rows):
        return ""
    words = {
        SETTLED: "settled after {}",
        NOTHING: "had nothing to compare after {}",
        MOST_ROUNDS: "went on to the last, after {}",
        BUDGET: "stopped after {}, the time budget spent",
    }
    clauses = []
    for why, text in words.items():
        for rounds, names in sorted((rounds, names) for (found, rounds), names in rows.items() if found == why):
            clause = f"{count(len(names), 'row')} {text.format(count(rounds, 'round'))}"
            # Those that stopped open are what a reader asks about.
            clauses.append(
                clause if why in (SETTLED, NOTHING) else f"{clause} ({shorten(enumerate_names(names), LIST_LENGTH)})"
            )
    undone = _undone(results, manifest)
    if undone:
        clauses.append(
            f"of those that settled, {shorten(enumerate_names(undone), LIST_LENGTH)} came to be inconclusive: later "
            "rounds of others moved the noise floor or the correction, or a cell was given up"
        )
    return f"Rounds: {'; '.join(clauses)}." if clauses else ""


def _undone(results: Sequence[Result], manifest: Manifest) -> list[str]:
    """Name the rows that stopped as settled and of which a verdict is inconclusive now."""
    open_ = {result.cell.row for result in results if result.verdict is Verdict.INCONCLUSIVE}
    return [row for row, stop in manifest.stopped.items() if stop.why == SETTLED and row in open_]


def noise_remark(analysis: Analysis, manifest: Manifest) -> str:
    """Give the noise floor, or say why it is not known."""
    noise = analysis.noise
    if noise.column is None:
        without = f"the run has no A/A twin (profile {manifest.profile.name})"
        return f"Noise floor: not measured, {without}." if analysis.comparisons else ""
    if noise.floor is None:
        return (
            f"Noise floor: not known; the A/A twin of {noise.column} gives {count(noise.most_pairs, 'pair')} a row, "
            f"and it takes {minimum_pairs()}."
        )
    text = (
        f"Noise floor: {QUANTILE:.0%} of ratios between identical cells lie within {format_share(noise.floor.value)}, "
        f"from the A/A twin of {noise.column}, {_extent(noise.floor)}"
    )
    tail = f"; of their 90% quantiles, within {format_share(noise.tail_floor.value)}" if noise.tail_floor else ""
    return f"{text}{tail}. Twins share their memory layouts; cells of different programs cannot, and keep that noise."


def _extent(floor: NoiseFloor) -> str:
    fewest, most = floor.fewest_pairs, floor.most_pairs
    pairs = f"{most}" if fewest == most else f"{fewest} to {most}"
    return f"{count(floor.comparisons, 'row')} × {pairs} pairs"
