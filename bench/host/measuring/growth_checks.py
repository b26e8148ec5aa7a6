"""Chooses the cells whose time is verified to grow with their work: those with no such process in this run yet.

Whether a program is waited for follows from its code, which all processes of a cell share. Code that was compiled, and
code that was loaded from a cache, may differ: so a first process that compiled is followed by another verification.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.cell import Cell
from bench.record import OK, Record

from ..storage.compile_caches import COLD, UNSURE


def wanted(cells: Sequence[Cell], records: Iterable[Record]) -> tuple[str, ...]:
    """Return the names of the cells that need it, given the records of the run so far."""
    # A process that was interrupted did not come to it, nor to its settings.
    finished = [record for record in records if record.status == OK and record.settings]
    verified = {record.cell for record in finished if record.first_call_cache not in (COLD, UNSURE)}
    return tuple(cell.name for cell in cells if cell not in verified)
