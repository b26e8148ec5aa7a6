"""Chooses the cells whose time is verified to grow with their work: those with no such process in this run yet.

Whether a program is waited for follows from its code, which all processes of a cell share. Code that was compiled, and
code that was loaded from a cache, may differ: so a first process that compiled is followed by another verification.
A run may use what an earlier one verified; then a cell is verified only in processes that compile.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace

from bench.cell import Cell
from bench.record import OK, Record

from ..executors.job import RowJob
from ..storage.compile_caches import COMPILED
from ..storage.kept_growth import KeptGrowth
from ..study.twin import original


@dataclass
class GrowthChecks:
    """The verifications of one run."""

    #: Those of earlier runs; None where these do not count.
    kept: KeptGrowth | None = None
    _verified: dict[Cell, None] = field(default_factory=dict)

    def assign(self, job: RowJob, records: Iterable[Record]) -> RowJob:
        """Return the job with the names of the cells that it verifies, given the records of the run so far."""
        records = list(records)
        names = wanted(job.row_round.cells, records)
        compiled = {record.cell for record in records if record.first_call_cache in COMPILED}
        earlier = [cell.name for cell in job.row_round.cells if cell not in compiled and self._has(cell)]
        return replace(
            job,
            growth_verified=tuple(name for name in names if name not in earlier),
            growth_if_compiled=tuple(name for name in names if name in earlier),
        )

    def _has(self, cell: Cell) -> bool:
        return self.kept is not None and self.kept.has(cell)

    def note(self, job: RowJob, records: Iterable[Record]) -> None:
        """Note which cells a job has verified, given the records of the run."""
        now = job.row_round
        for record in records:
            if (record.round, record.attempt) != (now.round, now.attempt) or record.cell not in now.cells:
                continue
            if record.status != OK:
                self._verified.pop(record.cell, None)
                if self.kept is not None:
                    self.kept.drop(record.cell)
            elif job.verifies_growth(record.cell.name, compiled=False) and _counts(record):
                self._verified[record.cell] = None

    def keep(self, changed: Container[str]) -> None:
        """Let later runs use the verifications, except those of environments that ``changed`` while measured."""
        if self.kept is not None:
            for cell in self._verified:
                if original(cell.environment) not in changed:
                    self.kept.keep(cell)
        self._verified = {}


def wanted(cells: Sequence[Cell], records: Iterable[Record]) -> tuple[str, ...]:
    """Return the names of the cells that need it, given the records of the run so far."""
    verified = {record.cell for record in records if _counts(record)}
    return tuple(cell.name for cell in cells if cell not in verified)


def _counts(record: Record) -> bool:
    """Tell whether the verification in a process is enough: it was not interrupted before, and did not compile."""
    return record.status == OK and bool(record.settings) and record.first_call_cache not in COMPILED
