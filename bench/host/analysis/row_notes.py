"""Finds what is worth saying about all cells of a row: the input data, disturbed turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .disturbances import count_turns
from .notes import Note, NoteKind, Severity, note
from .results import Result


def notes_on_row(row: Sequence[Result], planned_turns: int | None) -> tuple[Note, ...]:
    """Find the notes on a row, of which every process was to take ``planned_turns``."""
    return (*_data_sources(row), *_disturbed_turns(row, planned_turns))


def _data_sources(row: Iterable[Result]) -> Iterable[Note]:
    sources = dict.fromkeys(record.data for result in row for record in result.records if record.data)
    return (note(NoteKind.DATA_SOURCE, Severity.INFO, source=source) for source in sources)


def _disturbed_turns(row: Iterable[Result], planned: int | None) -> Iterable[Note]:
    """Note that numbers of the row contain disturbed turns."""
    found = count_turns((record for result in row for record in result.records), planned)
    if found.kept:
        yield note(
            NoteKind.TURNS_DISTURBED, Severity.CAUTION, kept=found.kept, turns=found.turns, example=found.example
        )
