"""Names the rows of a table by what is compared in them: workload, size, precision, device and threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bench.cell import Cell

from .language import ngettext

if TYPE_CHECKING:
    from ...analysis.results import Result


def facets(cell: Cell) -> tuple[str, ...]:
    """Return the parts of a row's name."""
    devices = ngettext("{count} device", "{count} devices", cell.devices)
    device = cell.device if cell.devices == 1 else f"{cell.device}, {devices}"
    return (cell.workload, cell.size, cell.precision, device, threads_in_words(cell.threads))


def threads_in_words(count: int) -> str:
    return ngettext("{count} thread", "{count} threads", count)


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
