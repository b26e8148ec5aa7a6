"""Holds what is worth saying about a number as a value: a kind, a severity, and the numbers and names it is about.

There are no sentences here: ``bench.host.reporting.words.notes`` writes them, from the values of the note alone.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

#: Hashable, so that equal notes share one mark.
Value = str | int | float | None | tuple["Value", ...]


class Severity(enum.IntEnum):
    """How much a note takes from the number that it stands beside."""

    #: Explains the number, or why there is none although nothing went wrong.
    INFO = 1
    #: The number may mislead a reader who does not read the note.
    CAUTION = 2
    #: There is no number where there should be one, or the number times something else as well.
    UNUSABLE = 3


class NoteKind(enum.StrEnum):
    """The kinds of notes, by what they are about."""

    NOT_RUN = "status.not-run"
    EXCLUDED = "status.excluded"
    PROCESSES_ENDED = "status.processes-ended"
    LARGE_SPREAD = "step.large-spread"
    WAITING = "step.waiting"
    NO_STEADY_STATE = "step.no-steady-state"
    EARLY_SAMPLES = "step.early-samples"
    RECOMPILED = "compilation.recompiled"
    SPLIT_GRAPHS = "compilation.split-graphs"
    BASELINE_IRREGULAR = "ratio.baseline-irregular"
    PAIRS_DISTURBED = "ratio.pairs-disturbed"
    TAIL_DIFFERS = "ratio.tail-differs"
    RATIO_REFUSED = "ratio.refused"
    BASELINE_ABSENT = "ratio.baseline-absent"
    BASELINE_FAILED = "ratio.baseline-failed"
    NO_PAIRS = "ratio.no-pairs"
    DATA_SOURCE = "row.data-source"
    TURNS_DISTURBED = "row.turns-disturbed"
    SINGLE_FIRST_CALL = "costs.single-first-call"
    PEAK_OF_ALL = "costs.peak-of-whole-process"
    BATCH_LIMITED = "costs.batch-limited"
    NO_LARGEST_BATCH = "costs.no-largest-batch"
    RANKING_WITHOUT_BASELINE = "ranking.baseline-without-result"
    RANKING_TOO_SMALL = "ranking.too-small"
    ENVIRONMENT_CHANGED = "run.environment-changed"
    SOURCES_CHANGED = "run.sources-changed"
    BUILT_FROM_SOURCE = "run.built-from-source"
    RUN_UNFINISHED = "run.unfinished"
    PART_OF_RUN = "run.part"
    JOURNAL_DAMAGED = "run.journal-damaged"
    RUN_WITHOUT_BASELINE = "run.without-baseline"
    NOT_BOUND = "run.not-bound"
    RUN_STRICT = "run.strict"
    CACHE_KEPT = "run.cache-kept"
    IMPORTS_SHARED = "run.imports-shared"
    NO_TWIN = "run.no-twin"
    TWIN_TOO_SHORT = "run.twin-too-short"


@dataclass(frozen=True)
class Note:
    """One thing that is worth saying."""

    kind: NoteKind
    severity: Severity
    #: (name, value) of each value.
    values: tuple[tuple[str, Value], ...]

    def __getitem__(self, name: str) -> Value:
        return dict(self.values)[name]


def note(kind: NoteKind, severity: Severity, /, **values: Value) -> Note:
    """Make a note; ``values`` are the arguments of the function that words its kind."""
    return Note(kind, severity, tuple(values.items()))


def worst(notes: Iterable[Note]) -> Severity | None:
    """Return the highest severity of several notes; None of nothing."""
    return max((one.severity for one in notes), default=None)
