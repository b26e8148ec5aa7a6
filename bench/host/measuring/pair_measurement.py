"""Measures two cells of one row against each other, round by round, in a folder of their own that can be continued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from bench.cell import Cell
from bench.record import OK, Record

from ..analysis.comparisons import rounds_of
from ..analysis.processes import timed_by_cell
from ..environments import Prepared
from ..executors.job import InstalledEnvironment
from ..executors.local import LocalExecutor
from ..reporting.progress import Display, RemainingTime
from ..reporting.renderers import terminal
from ..statistics.location import FloatArray
from ..statistics.pairs import pair_log_ratios
from ..storage import input_data, journal, manifest
from ..storage.identity import identity
from ..storage.manifest import BUDGET
from ..study.plan import Plan
from ..study.schema import Profile, Study
from . import rounds
from .run_start import RunStart
from .stopping import Stops
from .study_jobs import StudyJobs

#: The rounds of a pair are decided while it is measured; a run that knows no end is never finished.
MOST_ROUNDS = 10_000


class BudgetSpent(Exception):
    """The time for measuring is spent; ``ratios`` are the log ratios of a pair so far, None where it was not begun."""

    def __init__(self, ratios: FloatArray | None = None) -> None:
        super().__init__("the budget is spent")
        self.ratios = ratios


@dataclass(frozen=True)
class PairMeasurement:
    """What the pairs of one bisection have in common."""

    root: Path
    #: Each pair has a folder in it.
    folder: Path
    study: Study
    profile: Profile
    seed: int
    console: Console

    def stored(self, cell: Cell, reference: Cell, prepared: Mapping[str, Prepared]) -> FloatArray:
        """Return the log ratios that were measured before, of the very same environments and code."""
        folder = self._pair_folder(cell, reference)
        described = manifest.read(folder, [])
        if described is None or described.identity != self._identity(cell, reference, prepared):
            return log_ratios(cell, reference, [])
        return log_ratios(cell, reference, journal.read(folder, []))

    def measure(
        self,
        cell: Cell,
        reference: Cell,
        prepared: Mapping[str, Prepared],
        more: int,
        *,
        budget_s: float | None = None,
    ) -> tuple[FloatArray, dict[str, str]]:
        """Measure more rounds; return the log ratios of all, and {environment: reason} of cells that failed.

        Raises BudgetSpent where another round would not fit into ``budget_s``, and a round is missing.
        """
        plan = self._plan(cell, reference)
        folder = self._pair_folder(cell, reference)
        executor = LocalExecutor(self.root, folder)
        start = RunStart(self.root, folder, self.study, plan, prepared, self._say, executor.machine())
        described, _ = start.open(fresh=False, forget=lambda run: None)
        cells, records = start.cells_and_records(described.run)
        done = 1 + max((record.round for record in records), default=-1)
        installed = InstalledEnvironment.of_each(prepared, self.study.environments)
        jobs = StudyJobs(described.run, self.study, plan, installed, self._data(cell))
        run = rounds.Run(
            cells=cells,
            seed=self.seed,
            samples=self.profile.samples,
            make_job=lambda row_round, left_s: jobs.make(row_round, left_s, {}),
            executor=executor,
            journal=journal.Journal(folder),
            stops=Stops([cell.row], (done + more,), lambda _records, _rounds: [], budget_s),
            records=records,
        )
        remaining = RemainingTime()
        try:
            with Display(self.console, remaining) as display:
                run.measure(display, remaining)
        finally:
            executor.close()
        ratios = log_ratios(cell, reference, run.records)
        if any(stop.why == BUDGET for stop in run.stops.made.values()):
            raise BudgetSpent(ratios)
        return ratios, failures((cell, reference), run.records)

    def _plan(self, cell: Cell, reference: Cell) -> Plan:
        profile = self.profile.model_copy(update={"rounds": MOST_ROUNDS, "most_rounds": None})
        return Plan(
            (reference, cell),
            (),
            profile,
            self.seed,
            cell.threads,
            reference.column,
            registry=self.study.registry,
        )

    def _identity(self, cell: Cell, reference: Cell, prepared: Mapping[str, Prepared]) -> str:
        # Of an environment that is built from a lock, the lock decides; it need not be there.
        both = {name: prepared.get(name, Prepared(name, OK)) for name in (cell.environment, reference.environment)}
        machine = LocalExecutor(self.root, self.folder).machine()
        return identity(self.root, self.study, self._plan(cell, reference), both, machine)

    def _pair_folder(self, cell: Cell, reference: Cell) -> Path:
        return self.folder / f"{cell.environment}-vs-{reference.environment}"

    def _data(self, cell: Cell) -> dict[str, str | None]:
        paths = {cell.workload: self.study.workloads[cell.workload].data}
        return input_data.resolve_all(paths, root=self.root, announce=self._say, registry=self.study.registry)

    def _say(self, text: str) -> None:
        terminal.say(self.console, text)


def log_ratios(cell: Cell, reference: Cell, records: Sequence[Record]) -> FloatArray:
    """Return the log ratio of each pair of processes, in the order of the rounds."""
    timed = timed_by_cell(records)
    mine, theirs = ({process.key: process.turns for process in timed.get(one, [])} for one in (cell, reference))
    keys, found = pair_log_ratios(mine, theirs)
    return found[np.argsort(rounds_of(keys), kind="stable")]


def failures(cells: Sequence[Cell], records: Sequence[Record]) -> dict[str, str]:
    """Return {environment: reason} of the cells whose last process ended badly."""
    last = {record.cell: record for record in records}
    return {
        cell.environment: f"{last[cell].status} in {last[cell].stage}: {last[cell].reason}"
        for cell in cells
        if cell in last and last[cell].status != OK
    }
