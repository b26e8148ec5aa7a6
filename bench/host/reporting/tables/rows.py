"""Arranges results in rows of what is compared and columns of environment and mode, and names them."""

from __future__ import annotations

from collections.abc import Sequence

from bench.cell import Cell

from ...analysis.results import Result, columns_of, row_key
from ...analysis.row_notes import notes_on_row
from ...storage.manifest import Manifest
from ..words.language import ngettext
from ..words.notes import in_words
from .table import Entry

Rows = dict[tuple[str, int], list[Result]]


def rows_of(results: Sequence[Result]) -> Rows:
    """Group results by what they compute, in the order of the study."""
    rows: Rows = {}
    for result in results:
        rows.setdefault(row_key(result.cell), []).append(result)
    columns = columns_of(results)
    return {key: sorted(row, key=lambda result: columns.index(result.cell.column)) for key, row in rows.items()}


def facets(cell: Cell) -> tuple[str, ...]:
    """Return the parts of a row's name."""
    threads = ngettext("{count} thread", "{count} threads", cell.threads)
    return (cell.workload, cell.size, cell.precision, cell.device, threads)


def varying(results: Sequence[Result]) -> tuple[bool, ...]:
    """Tell which parts of a row's name differ between rows; the workload is always shown."""
    different = tuple(len(set(values)) > 1 for values in zip(*(facets(r.cell) for r in results), strict=True))
    return (True, *different[1:])


def shared_facets(results: Sequence[Result]) -> str:
    """Name what all rows have in common: ``small, float32, cpu, 2 threads``."""
    if not results:
        return ""
    parts = zip(facets(results[0].cell), varying(results), strict=True)
    return ", ".join(part for part, differs in parts if not differs)


def row_name(cell: Cell, shown: Sequence[bool]) -> str:
    return ", ".join(part for part, wanted in zip(facets(cell), shown, strict=True) if wanted)


def row_entry(row: Sequence[Result], shown: Sequence[bool], manifest: Manifest) -> Entry:
    """Name a row, with the footnotes that concern all of it."""
    return Entry(row_name(row[0].cell, shown), in_words(notes_on_row(row, manifest.profile.samples)))


def measured_baseline(results: Sequence[Result], manifest: Manifest) -> str | None:
    """Return the column that ratios are taken to; None where no cell of it is part of the run."""
    return manifest.study.baseline if manifest.study.baseline in columns_of(results) else None


def baseline_of(row: Sequence[Result], baseline: str | None) -> Result | None:
    return next((result for result in row if result.cell.column == baseline), None)
