"""Finds what is worth saying about one cell: why it has no number, what went wrong, and what its numbers hide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bench.record import OK

from ..statistics.pairs import Ratio
from ..statistics.verdict import DISTURBED, THRESHOLD, Verdict
from ..statistics.warmup import WarmupClass
from .compilation import notes_on_compilation
from .medians import median
from .noise_watch import LEAST_WAITING_SHARE
from .notes import Note, NoteKind, Severity, note
from .results import EXCLUDED, NOT_RUN, Comparison, Result

INFO, CAUTION, UNUSABLE = Severity


def notes_on_status(result: Result) -> tuple[Note, ...]:
    """Explain the status of a cell: nothing for one whose processes all ended well."""
    if result.status == NOT_RUN:
        return (note(NoteKind.NOT_RUN, INFO),)
    if result.status == EXCLUDED:
        return (note(NoteKind.EXCLUDED, INFO, reason=result.reason),)
    bad = [record for record in result.records if record.status != OK]
    untimed = result.status == OK and result.step is None
    if not bad and not untimed:
        return ()
    endings = Counter((record.status, record.stage, record.reason) for record in bad)
    return (
        note(
            NoteKind.PROCESSES_ENDED,
            CAUTION if result.step is not None else UNUSABLE,
            ok=len(result.records) - len(bad),
            processes=len(result.records),
            endings=tuple((*ending, number) for ending, number in endings.items()),
            untimed=untimed,
        ),
    )


def notes_on_step(result: Result) -> tuple[Note, ...]:
    """Find what a reader of a step time must know."""
    if result.step is None:
        return ()
    return (
        *_large_spread(result),
        *_waiting(result),
        *_warm_up(result),
        *notes_on_compilation(result.records),
    )


def large_spread(result: Result) -> Note | None:
    """Describe how the samples of a cell disagree, if they do, and how busy the processors were meanwhile."""
    found = result.spread
    if not found.is_large:
        return None
    return note(
        NoteKind.LARGE_SPREAD,
        CAUTION,
        wide=found.wide,
        slow=found.slow,
        processes=found.processes,
        slowest_over_fastest=found.ratio if found.is_apart else None,
        cpu_per_wall=result.cpu_per_wall,
    )


def _large_spread(result: Result) -> Iterable[Note]:
    found = large_spread(result)
    return () if found is None else (found,)


def _waiting(result: Result) -> Iterable[Note]:
    """Note threads that waited in most turns; those of one cell alone do not show that another process disturbed."""
    usual = median([share for process in result.timed for share in process.waiting_shares])
    if usual is not None and usual > LEAST_WAITING_SHARE:
        yield note(NoteKind.WAITING, CAUTION, share=usual, threads=result.cell.threads)


def _warm_up(result: Result) -> Iterable[Note]:
    """Note processes without a steady state, and a median that would be another if all samples counted."""
    found = result.warm_up
    if found is None or result.step is None:
        return
    restless = found.number_of(WarmupClass.NO_STEADY_STATE)
    if 2 * restless > found.processes:
        yield note(NoteKind.NO_STEADY_STATE, CAUTION, number=restless, processes=found.processes)
    change = found.whole_s / result.step.value - 1.0
    if abs(change) > THRESHOLD:
        yield note(NoteKind.EARLY_SAMPLES, INFO, samples=found.early, change=change)


def notes_on_ratio(result: Result, baseline: Result | None) -> tuple[Note, ...]:
    """Find what a ratio hides, or why a timed cell has none, where the study has a baseline."""
    if result.comparison is not None:
        return (
            *([note(NoteKind.BASELINE_IRREGULAR, CAUTION)] if result.baseline_irregular else ()),
            *_disturbed_pairs(result.comparison),
            *_tail(result.comparison, result.tail),
        )
    if result.step is None or result is baseline:
        return ()
    if result.refused:
        return (note(NoteKind.RATIO_REFUSED, INFO, differences=result.refused),)
    if baseline is None:
        return (note(NoteKind.BASELINE_ABSENT, INFO),)
    if baseline.step is None:
        return (note(NoteKind.BASELINE_FAILED, UNUSABLE, status=baseline.status),)
    return (note(NoteKind.NO_PAIRS, UNUSABLE),)


def _disturbed_pairs(comparison: Comparison) -> Iterable[Note]:
    """Note why a ratio is not called equivalent, whatever its interval."""
    if comparison.ratio.disturbed > DISTURBED:
        yield note(NoteKind.PAIRS_DISTURBED, CAUTION, share=comparison.ratio.disturbed)


def _tail(comparison: Comparison, tail: Comparison | None) -> Iterable[Note]:
    """Note the verdict on the 90% quantiles where it is another, or clearly one on another ratio."""
    if tail is None or tail.verdict is None or comparison.verdict is None:
        return
    if tail.verdict is comparison.verdict and not _apart(comparison.ratio, tail.ratio):
        return
    if tail.verdict is Verdict.INCONCLUSIVE:
        # Without numbers all of these are equal, and share one footnote.
        yield note(NoteKind.TAIL_DIFFERS, INFO, verdict=tail.verdict.value, ratio=None)
        return
    low, high = tail.ratio.deciding or (None, None)
    yield note(NoteKind.TAIL_DIFFERS, INFO, verdict=tail.verdict.value, ratio=(tail.ratio.estimate.value, low, high))


def _apart(ratio: Ratio, other: Ratio) -> bool:
    """Tell whether the intervals that decide lie apart by more than the practical threshold."""
    if ratio.deciding is None or other.deciding is None:
        return False
    (low, high), (other_low, other_high) = ratio.deciding, other.deciding
    return other_low > high * (1.0 + THRESHOLD) or other_high < low / (1.0 + THRESHOLD)


def notes_on_first_call(result: Result, cache: str) -> tuple[Note, ...]:
    """Note that a first call was measured in a single one of several processes."""
    single = result.first_calls(cache) == 1 < len(result.records)
    return (note(NoteKind.SINGLE_FIRST_CALL, INFO),) if single else ()


def notes_on_peak_memory(result: Result) -> tuple[Note, ...]:
    """Note a peak that holds more than the steps."""
    return (note(NoteKind.PEAK_OF_ALL, CAUTION),) if result.memory_bytes("peak_is_of_all") else ()


def notes_on_largest_batch(result: Result) -> tuple[Note, ...]:
    """Note why no batch was found, or what else than memory kept it from growing."""
    found = result.largest_batch
    if found is None:
        return ()
    if not found.get("items"):
        return (note(NoteKind.NO_LARGEST_BATCH, INFO, status=found.get("status"), reason=found.get("reason")),)
    return (note(NoteKind.BATCH_LIMITED, INFO, reason=found["reason"]),) if found.get("reason") else ()
