"""Writes notes as sentences: one function per kind of note; its arguments are the values of the note."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...analysis.notes import Note, NoteKind
from . import result_notes, row_notes, run_notes
from .language import _

WORDING: dict[NoteKind, Callable[..., str]] = {
    NoteKind.NOT_RUN: result_notes.not_run,
    NoteKind.EXCLUDED: result_notes.excluded,
    NoteKind.PROCESSES_ENDED: result_notes.processes_ended,
    NoteKind.LARGE_SPREAD: result_notes.large_spread,
    NoteKind.WAITING: result_notes.waiting,
    NoteKind.NO_STEADY_STATE: result_notes.no_steady_state,
    NoteKind.EARLY_SAMPLES: result_notes.early_samples,
    NoteKind.RECOMPILED: result_notes.recompiled,
    NoteKind.SPLIT_GRAPHS: result_notes.split_graphs,
    NoteKind.BASELINE_IRREGULAR: result_notes.baseline_irregular,
    NoteKind.PAIRS_DISTURBED: result_notes.pairs_disturbed,
    NoteKind.TAIL_DIFFERS: result_notes.tail_differs,
    NoteKind.RATIO_REFUSED: result_notes.ratio_refused,
    NoteKind.BASELINE_ABSENT: result_notes.baseline_absent,
    NoteKind.BASELINE_FAILED: result_notes.baseline_failed,
    NoteKind.NO_PAIRS: result_notes.no_pairs,
    NoteKind.DATA_SOURCE: row_notes.data_source,
    NoteKind.TURNS_DISTURBED: row_notes.turns_disturbed,
    NoteKind.SINGLE_FIRST_CALL: result_notes.single_first_call,
    NoteKind.PEAK_OF_ALL: result_notes.peak_of_all,
    NoteKind.BATCH_LIMITED: result_notes.batch_limited,
    NoteKind.NO_LARGEST_BATCH: result_notes.no_largest_batch,
    NoteKind.RANKING_WITHOUT_BASELINE: row_notes.ranking_without_baseline,
    NoteKind.RANKING_TOO_SMALL: row_notes.ranking_too_small,
    NoteKind.ENVIRONMENT_CHANGED: run_notes.environment_changed,
    NoteKind.SOURCES_CHANGED: run_notes.sources_changed,
    NoteKind.BUILT_FROM_SOURCE: run_notes.built_from_source,
    NoteKind.RUN_UNFINISHED: run_notes.run_unfinished,
    NoteKind.PART_OF_RUN: run_notes.part_of_run,
    NoteKind.JOURNAL_DAMAGED: run_notes.journal_damaged,
    NoteKind.RUN_WITHOUT_BASELINE: run_notes.run_without_baseline,
    NoteKind.NOT_BOUND: run_notes.not_bound,
    NoteKind.RUN_STRICT: run_notes.run_strict,
    NoteKind.CACHE_KEPT: run_notes.cache_kept,
    NoteKind.IMPORTS_SHARED: run_notes.imports_shared,
    NoteKind.NO_TWIN: run_notes.no_twin,
    NoteKind.TWIN_TOO_SHORT: run_notes.twin_too_short,
}


def in_words(notes: Iterable[Note]) -> tuple[str, ...]:
    """Write notes in the language of the report."""
    return tuple(WORDING[note.kind](**dict(note.values)) for note in notes)


def in_brief(notes: Iterable[Note]) -> tuple[str, ...]:
    """Write notes without the numbers that differ from cell to cell, so that a wide table has few of them."""
    brief = {
        NoteKind.LARGE_SPREAD: _("large spread"),
        NoteKind.WAITING: _("CPU contention"),
        NoteKind.NO_STEADY_STATE: _("no steady state"),
        NoteKind.EARLY_SAMPLES: _("samples before the steady state are left out, which changes the median"),
        NoteKind.RECOMPILED: _("recompiled while timing: the time includes compilation"),
        NoteKind.SPLIT_GRAPHS: _("compiled in several graphs or traces"),
        NoteKind.PAIRS_DISTURBED: _("not called equivalent: most turns of many pairs were disturbed"),
        NoteKind.TAIL_DIFFERS: _("90% quantiles compare otherwise"),
    }
    return tuple(text for one in notes for text in ([brief[one.kind]] if one.kind in brief else in_words([one])))
