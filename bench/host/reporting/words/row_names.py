"""Names the rows of a table by what is compared in them: workload, size, precision, device and threads."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.cell import Cell

from ...analysis.row_key import row_key
from .language import _, ngettext

if TYPE_CHECKING:
    from ...analysis.results import Result


def facets(cell: Cell) -> tuple[str, ...]:
    """Return the parts of a row's name."""
    return (cell.workload, cell.size, cell.precision, cell.device, threads_in_words(cell.threads))


def threads_in_words(count: int) -> str:
    return ngettext("{count} thread", "{count} threads", count)


def usual_facets(results: Sequence[Result]) -> tuple[str | None, ...]:
    """Return what half of the rows or more have in common, part by part; the workload is always named."""
    rows = _facets_of_rows(results)
    return (None, *map(_usual, list(zip(*rows, strict=True))[1:]))


def _usual(values: Sequence[str]) -> str | None:
    """Return what at least half of the values are, and no other as often."""
    (value, count), *others = Counter(values).most_common(2)
    tied = any(other == count for _, other in others)
    return value if 2 * count >= len(values) and not tied else None


def _facets_of_rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    return [facets(cell) for cell in {row_key(result.cell): result.cell for result in results}.values()]


def usual_conditions(results: Sequence[Result]) -> str:
    """Name what is usual; the names of the other rows say what they have."""
    return ", ".join(value for value in usual_facets(results) if value is not None)


def shared_facets(results: Sequence[Result]) -> str:
    """Name what all rows have in common, or all that do not say otherwise: ``small, float32, cpu, 2 threads``."""
    usual, text = usual_facets(results), usual_conditions(results)
    pairs = (pair for row in _facets_of_rows(results) for pair in zip(row, usual, strict=True))
    if any(value != same for value, same in pairs if same is not None):
        return _("{conditions}, unless a row says otherwise", conditions=text)
    return text


def unnamed_conditions(results: Sequence[Result]) -> str:
    """Say in a sentence what the names of rows leave out, where no caption says it."""
    shared = shared_facets(results)
    return _("Conditions: {conditions}.", conditions=shared) if shared else ""


def row_name(cell: Cell, usual: Sequence[str | None] = ()) -> str:
    """Name a row by what is not usual; whole, where nothing is."""
    return ", ".join(value for value, same in itertools.zip_longest(facets(cell), usual) if value != same)
