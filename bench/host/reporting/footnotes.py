"""Knows what must be said beside a number: why there is none, what went wrong, and what it hides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from bench.record import OK, Record

from ..analysis.compilation import compilation_notes
from ..analysis.disturbances import count_turns
from ..analysis.noise_watch import SHARE, waiting_shares
from ..analysis.results import EXCLUDED, NOT_RUN, Comparison, Result, median
from ..statistics.pairs import Ratio
from ..statistics.steadiness import FACTOR, SPREAD
from ..statistics.verdict import DISTURBED, THRESHOLD, Verdict
from ..statistics.warmup import Kind
from .tables.table import shorten
from .words.numbers import count, format_interval, format_share, format_value


def ending(record: Record) -> str:
    """Say where and why a process ended: ``timeout in measure: 300 s passed``."""
    where = f" in {record.stage}" if record.stage else ""
    return shorten(f"{record.status}{where}: {record.reason or 'no reason was recorded'}")


def status_notes(result: Result) -> tuple[str, ...]:
    """Explain a cell's status: nothing for one whose processes all ended well."""
    if result.status == NOT_RUN:
        return ("planned, but not run: the run ended before it",)
    if result.status == EXCLUDED:
        return (shorten(f"excluded by the study: {result.reason}"),)
    bad = [record for record in result.records if record.status != OK]
    good = len(result.records) - len(bad)
    notes = [f"{good} of {len(result.records)} processes ok"] if good and bad else []
    for text, number in Counter(ending(record) for record in bad).items():
        notes.append(text if number == len(bad) else f"{number} × {text}")
    if result.status == OK and result.step is None:
        notes.append("no timed samples")
    return ("; ".join(notes),) if notes else ()


def step_notes(result: Result) -> tuple[str, ...]:
    """Say what must be known beside a step time."""
    if result.step is None:
        return ()
    return (
        *unsteady_notes(result),
        *waiting_notes(result),
        *warm_up_notes(result),
        *compilation_notes(result.records),
    )


def unsteady_notes(result: Result) -> tuple[str, ...]:
    """Say how the samples of a cell disagree, if they do, and how busy the processors were meanwhile."""
    found = result.steadiness
    if not found.unsteady:
        return ()
    clauses = []
    for number, what in (
        (found.wide, f"the middle half of the samples spans more than {SPREAD:.0%} of their median"),
        (found.slow, f"the median of the samples is more than {FACTOR:g} times their 10% quantile"),
    ):
        if number:
            clauses.append(f"in {number} of {found.processes} processes {what}")
    if found.ratio > FACTOR:
        clauses.append(f"the slowest process took {found.ratio:.1f} times as long as the fastest")
    if result.cpu_per_wall is not None:
        clauses.append(f"processor time {result.cpu_per_wall:.1f} × wall time")
    return (f"unsteady: {'; '.join(clauses)}",)


def waiting_notes(result: Result) -> tuple[str, ...]:
    """Tell of threads that waited in most turns: those of one cell alone do not show that anybody disturbed them."""
    shares = [share for process in result.timed for share in waiting_shares(process.record).values()]
    usual = median(shares)
    if usual is None or usual <= SHARE:
        return ()
    whom = "somebody else" if result.cell.threads == 1 else "each other or for somebody else"
    return (f"in half of the turns threads waited {usual:.0%} of the time or more for a processor: for {whom}",)


def warm_up_notes(result: Result) -> tuple[str, ...]:
    """Tell of processes without a steady state, and of a median that would be another if all samples counted."""
    found = result.warm_up
    if found is None or result.step is None:
        return ()
    restless = found.number_of(Kind.NO_STEADY_STATE)
    notes = (f"no steady state in {restless} of {found.processes} processes",) if 2 * restless > found.processes else ()
    change = found.whole_s / result.step.value - 1.0
    if abs(change) <= THRESHOLD:
        return notes
    early = (
        f"not steady at first: {count(found.early, 'sample')} before the processes' steady state are left out; with "
        f"them the median would be {abs(change):.1%} {'shorter' if change < 0 else 'longer'}"
    )
    return (*notes, early)


def ratio_notes(result: Result, baseline: Result | None) -> tuple[str, ...]:
    """Warn of what a ratio hides, or explain why a timed cell has none, where the study has a baseline."""
    if result.comparison is not None:
        unsteady = ("the baseline of this ratio is unsteady",) if result.baseline_unsteady else ()
        return (*unsteady, *sharing_notes(result.comparison), *tail_notes(result.comparison, result.tail))
    if result.step is None or result is baseline:
        return ()
    if result.refused:
        return (f"--strict: no ratio, as {result.refused}",)
    if baseline is None:
        return ("no ratio: the baseline is not part of this row",)
    if baseline.step is None:
        return (f"no ratio: the baseline's status is {baseline.status}",)
    return ("no ratio: no process took turns with one of the baseline",)


def sharing_notes(comparison: Comparison) -> tuple[str, ...]:
    """Say why a ratio is not called equivalent, whatever its interval."""
    if comparison.ratio.disturbed <= DISTURBED:
        return ()
    share = f"{comparison.ratio.disturbed:.0%}"
    return (
        f"never called equivalent, nor different below {format_share(THRESHOLD / 2)}: in {share} of its pairs others "
        "had the processor in most turns, which dilutes a difference",
    )


def tail_notes(comparison: Comparison, tail: Comparison | None) -> tuple[str, ...]:
    """Tell the verdict on the 90% quantiles where it is another, or clearly one on another ratio."""
    if tail is None or tail.verdict is None or comparison.verdict is None:
        return ()
    if tail.verdict is comparison.verdict and not _apart(comparison.ratio, tail.ratio):
        return ()
    if tail.verdict is Verdict.INCONCLUSIVE:
        # Without numbers it is one footnote for all.
        return (f"90% quantiles: {tail.verdict.value}",)
    low, high = tail.ratio.deciding or (None, None)
    estimate = replace(tail.ratio.estimate, low=low, high=high)
    return (f"90% quantiles: ratio {format_value(estimate)} {format_interval(estimate)}, {tail.verdict.value}",)


def _apart(ratio: Ratio, other: Ratio) -> bool:
    """Tell whether the intervals that decide lie apart by more than the practical threshold."""
    if ratio.deciding is None or other.deciding is None:
        return False
    (low, high), (other_low, other_high) = ratio.deciding, other.deciding
    return other_low > high * (1.0 + THRESHOLD) or other_high < low / (1.0 + THRESHOLD)


def disturbance_notes(row: Iterable[Result], planned: int | None) -> tuple[str, ...]:
    """Warn of a row whose numbers contain disturbed turns."""
    found = count_turns((record for result in row for record in result.records), planned)
    if not found.kept:
        return ()
    return (shorten(f"{found.kept} disturbed turns of {found.turns} are part of these numbers, e.g. {found.example}"),)


def data_notes(results: Iterable[Result]) -> tuple[str, ...]:
    """Say where the input of a row came from, once for each source."""
    sources = dict.fromkeys(record.data for result in results for record in result.records if record.data)
    return tuple(shorten(f"input: {source}") for source in sources)


def largest_batch_notes(result: Result) -> tuple[str, ...]:
    """Say why no batch was found, or what else than memory kept it from growing."""
    found = result.largest_batch
    if found is None:
        return ()
    if found.get("items"):
        return (shorten(f"larger batches: {found['reason']}"),) if found.get("reason") else ()
    return (shorten(f"no largest batch: {found.get('status')}: {found.get('reason') or 'no reason was recorded'}"),)


def versions(results: Iterable[Result]) -> str:
    """Name what computed in each environment: ``torch1: torch 1.13.1, numpy 1.26.4, python 3.11.7``."""
    found: dict[str, dict[str, list[str]]] = {}
    for result in results:
        for record in result.records:
            for name, version in record.versions.items():
                known = found.setdefault(record.cell.environment, {}).setdefault(name, [])
                if version not in known:
                    known.append(version)
    # The framework last come, first served: interpreter and NumPy are what every environment has.
    return "; ".join(
        f"{environment}: " + ", ".join(f"{name} {' or '.join(values)}" for name, values in reversed(names.items()))
        for environment, names in found.items()
    )


def remarks(*texts: str) -> tuple[str, ...]:
    """Keep those that say something."""
    return tuple(text for text in texts if text)
