"""Writes the footnotes of the entries of a table."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.result_notes import (
    notes_on_first_call,
    notes_on_largest_batch,
    notes_on_peak_memory,
    notes_on_ratio,
    notes_on_status,
    notes_on_step,
)
from ...analysis.results import Result
from ...analysis.row_notes import notes_on_row
from ..words.notes import in_words


def status_notes(result: Result) -> tuple[str, ...]:
    return in_words(notes_on_status(result))


def step_notes(result: Result) -> tuple[str, ...]:
    return in_words(notes_on_step(result))


def ratio_notes(result: Result, baseline: Result | None) -> tuple[str, ...]:
    return in_words(notes_on_ratio(result, baseline))


def row_notes(row: Sequence[Result], planned_turns: int | None) -> tuple[str, ...]:
    return in_words(notes_on_row(row, planned_turns))


def first_call_notes(result: Result, cache: str) -> tuple[str, ...]:
    return in_words(notes_on_first_call(result, cache))


def peak_notes(result: Result) -> tuple[str, ...]:
    return in_words(notes_on_peak_memory(result))


def largest_batch_notes(result: Result) -> tuple[str, ...]:
    return in_words(notes_on_largest_batch(result))
