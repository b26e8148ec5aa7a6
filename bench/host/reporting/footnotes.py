"""Writes the footnotes of a table's entries, and the versions below the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis.result_notes import (
    notes_on_first_call,
    notes_on_largest_batch,
    notes_on_peak_memory,
    notes_on_ratio,
    notes_on_status,
    notes_on_step,
)
from ..analysis.results import Result
from ..analysis.row_notes import notes_on_row
from .words.notes import in_words


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
