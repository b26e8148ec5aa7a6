"""Arranges results in rows of what is compared and columns of environment and mode."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.results import Result, by_row, columns_of
from ...analysis.row_notes import notes_on_row
from ...storage.manifest import Manifest
from ...study.baseline import CHOSEN
from ..words.labels import in_order, labels_of
from ..words.notes import in_words
from ..words.row_names import row_name
from .table import Entry


def rows_of(results: Sequence[Result]) -> dict[tuple[str, int], list[Result]]:
    """Group results by what they compute, in the order of the study, and each by framework and version."""
    places = {column: place for place, column in enumerate(in_order(columns_of(results), labels_of(results)))}
    return {key: sorted(row, key=lambda result: places[result.cell.column]) for key, row in by_row(results).items()}


def row_entry(row: Sequence[Result], usual: Sequence[str | None], manifest: Manifest) -> Entry:
    """Name a row, with the footnotes that concern all of it."""
    return Entry(row_name(row[0].cell, usual), in_words(notes_on_row(row, manifest.profile.samples)))


def measured_baseline(results: Sequence[Result], manifest: Manifest) -> str | None:
    """Return what ratios are taken to, a column or another baseline; None where no cell of it is part of the run."""
    return manifest.study.baseline if manifest.study.baseline in (*columns_of(results), *CHOSEN) else None
