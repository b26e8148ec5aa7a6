"""Writes the notes on one cell: its status, step time, ratio and costs. The arguments are the values of the notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...statistics.bootstrap import Estimate
from ...statistics.spread import APART_FACTOR, WIDE_SPREAD
from ...statistics.verdict import THRESHOLD, Verdict
from .language import _, ngettext
from .numbers import fixed, format_interval, format_share, format_value, general, percent
from .terms import enumerate_names, status_word, verdict_word
from .text import shorten

#: Characters of the value of a setting, and of all reasons of graph breaks together; the records keep all of them.
VALUE_LENGTH, REASONS_LENGTH = 60, 160


def not_run() -> str:
    return _("not measured: the run ended before this cell")


def excluded(reason: str | None) -> str:
    return shorten(_("not measured: {reason}", reason=reason))


def processes_ended(
    ok: int, processes: int, endings: Sequence[tuple[str, str | None, str | None, int]], untimed: bool
) -> str:
    """Count the processes that ended well, and name each way in which the others ended."""
    clauses = []
    if ok and endings:
        clauses.append(_("{ok} of {processes} processes ok", ok=ok, processes=processes))
    counts: Counter[str] = Counter()
    for status, stage, reason, number in endings:
        counts[ending(status, stage, reason)] += number
    bad = sum(counts.values())
    clauses += [text if number == bad else f"{number} × {text}" for text, number in counts.items()]
    if untimed:
        clauses.append(_("no timed samples"))
    return "; ".join(clauses)


def ending(status: str, stage: str | None, reason: str | None) -> str:
    """Write where and why a process ended: ``timeout in measure: 300 s passed``."""
    why = reason or _("no reason was recorded")
    if stage is None:
        return shorten(f"{status_word(status)}: {why}")
    return shorten(_("{status} in {stage}: {reason}", status=status_word(status), stage=stage, reason=why))


def large_spread(
    wide: int, slow: int, processes: int, slowest_over_fastest: float | None, cpu_per_wall: float | None
) -> str:
    clauses = []
    if wide:
        clauses.append(
            _(
                "in {number} of {processes} processes the middle half of the samples spans more than {share} of "
                "their median",
                number=wide,
                processes=processes,
                share=percent(WIDE_SPREAD),
            )
        )
    if slow:
        clauses.append(
            _(
                "in {number} of {processes} processes the median of the samples is more than {factor} times their "
                "10% quantile",
                number=slow,
                processes=processes,
                factor=general(APART_FACTOR),
            )
        )
    if slowest_over_fastest is not None:
        clauses.append(
            _(
                "the slowest process took {factor} times as long as the fastest",
                factor=fixed(slowest_over_fastest, 1),
            )
        )
    if cpu_per_wall is not None:
        clauses.append(_("processor time {factor} × wall time", factor=fixed(cpu_per_wall, 1)))
    return _("large spread: {clauses}", clauses="; ".join(clauses))


def waiting(share: float, threads: int) -> str:
    if threads == 1:
        return _(
            "CPU contention: the thread waited {share} of the time (median) for other processes", share=percent(share)
        )
    return _("CPU contention: threads waited {share} of the time (median)", share=percent(share))


def no_steady_state(number: int, processes: int) -> str:
    return _("no steady state in {number} of {processes} processes", number=number, processes=processes)


def early_samples(samples: int, change: float) -> str:
    left_out = ngettext(
        "{count} sample before the steady state is left out",
        "{count} samples before the steady state are left out",
        samples,
    )
    with_them = (
        _("with them the median would be {share} shorter", share=percent(-change, 1))
        if change < 0
        else _("with them the median would be {share} longer", share=percent(change, 1))
    )
    return f"{left_out}; {with_them}"


def recompiled(times: int, affected: int, processes: int) -> str:
    return _(
        "recompiled {times}× while timing, in {affected} of {processes} processes: the time includes compilation",
        times=times,
        affected=affected,
        processes=processes,
    )


def split_graphs(graphs: int, traces: int, breaks: int, reasons: Sequence[str]) -> str:
    parts = []
    if graphs > 1:
        parts.append(ngettext("{count} graph", "{count} graphs", graphs))
    if traces > 1:
        parts.append(ngettext("{count} trace", "{count} traces", traces))
    clauses = [_("compiled in {parts}", parts=enumerate_names(parts))] if parts else []
    if breaks:
        text = ngettext("{count} graph break", "{count} graph breaks", breaks)
        clauses.append(f"{text} ({shorten('; '.join(reasons), REASONS_LENGTH)})" if reasons else text)
    return ", ".join(clauses)


def baseline_irregular() -> str:
    return _("the baseline of this ratio has a large spread, or was compiled while timing")


def pairs_disturbed(share: float) -> str:
    return _(
        "not called equivalent, nor different below {threshold}: in {share} of the pairs other processes used the "
        "processors in most turns, which makes a difference look smaller",
        threshold=format_share(THRESHOLD / 2),
        share=percent(share),
    )


def tail_differs(verdict: str, ratio: tuple[float, float | None, float | None] | None) -> str:
    if ratio is None:
        return _("90% quantiles: {verdict}", verdict=verdict_word(Verdict(verdict)))
    estimate = Estimate(*ratio, 0)
    return _(
        "90% quantiles: ratio {ratio} {interval}, {verdict}",
        ratio=format_value(estimate),
        interval=format_interval(estimate),
        verdict=verdict_word(Verdict(verdict)),
    )


def ratio_refused(differences: Sequence[tuple[str, str, str]]) -> str:
    return _("no ratio (--strict): {differences}", differences=differences_in_words(differences))


def differences_in_words(differences: Sequence[tuple[str, str, str]]) -> str:
    """Write the differences of settings that forbid a comparison."""
    return "; ".join(
        _(
            "{setting} is {here} here and {there} in the baseline",
            setting=name,
            here=shorten(here, VALUE_LENGTH),
            there=shorten(there, VALUE_LENGTH),
        )
        for name, here, there in differences
    )


def baseline_absent() -> str:
    return _("no ratio: the baseline is not part of this row")


def baseline_failed(status: str) -> str:
    return _("no ratio: the status of the baseline is {status}", status=status_word(status))


def no_pairs() -> str:
    return _("no ratio: no process took turns with one of the baseline")


def single_first_call() -> str:
    return _("from a single process")


def peak_of_all() -> str:
    return _("the peak includes the first call and the check, since this kernel cannot reset it")


def batch_limited(reason: str) -> str:
    return shorten(_("larger batches: {reason}", reason=reason))


def no_largest_batch(status: str | None, reason: str | None) -> str:
    return shorten(
        _(
            "no largest batch: {status}: {reason}",
            status=status_word(str(status)),
            reason=reason or _("no reason was recorded"),
        )
    )
