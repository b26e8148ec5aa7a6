"""Measures a run: rows in rounds until each row stops; the events of every row job go to the journal at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.cell import Cell
from bench.record import Record

from ..executors.events import Event, Finished, Progress, Ready, TurnTaken, Waited
from ..executors.job import RowJob, RowRound
from ..executors.local import Executor
from ..reporting.progress import Display, RemainingTime
from ..storage.journal import Journal
from ..study.rows import group_by_row
from . import late_checks, order
from .stopping import Stops


@dataclass
class Run:
    """A run under way."""

    cells: Sequence[Cell]
    #: Seed of the order of rows.
    seed: int
    #: Turns of every process.
    samples: int
    #: Makes the job of a row round; the second argument is the seconds that are left of the budget.
    make_job: Callable[[RowRound, float | None], RowJob]
    executor: Executor
    journal: Journal
    stops: Stops
    records: list[Record] = field(default_factory=list)
    #: Seconds in which the host only waited for workers.
    waited_s: float = 0.0

    def measure(self, display: Display, remaining: RemainingTime) -> None:
        """Measure everything that is left.

        KeyboardInterrupt passes through after the processes under way have been killed and their turns recorded.
        """
        rows = group_by_row(self.cells)
        for number in range(self.stops.looks[-1]):
            self.stops.look(number, self.records)
            if number == 0 or number in self.stops.looks:
                self._expect(number, rows, remaining)
            for row in order.row_order(rows, number, self.seed):
                self._measure_row(number, row, rows[row], display, remaining)
        self.stops.look(self.stops.looks[-1], self.records)

    def _expect(self, number: int, rows: Mapping[str, Sequence[Cell]], remaining: RemainingTime) -> None:
        """Let the estimate count what is left until the next look."""
        for later in range(number, self.stops.next_look(number)):
            for row in order.row_order(rows, later, self.seed):
                row_round = order.row_round(later, row, rows[row], self.records, self.samples)
                if row not in self.stops.made and row_round.cells:
                    remaining.expect(later, row, len(row_round.cells))

    def _measure_row(
        self, number: int, row: str, cells: Sequence[Cell], display: Display, remaining: RemainingTime
    ) -> None:
        began = time.monotonic()
        row_round = order.row_round(number, row, cells, self.records, self.samples)
        wanted = bool(row_round.cells) and not self.stops.over(row, number, remaining.next_s(number, row))
        if wanted:
            job = self.make_job(row_round, self.stops.left_s())
            # With a budget any round may be the last.
            if job.left_s is None:
                again = late_checks.drawn(row_round.cells, number, self.stops.looks[0], self.records)
                job = replace(job, checked_again=again)
            RowRecorder(self, display, len(self.records), number).run(job)
        remaining.done(number, row, time.monotonic() - began, measured=wanted)


class RowRecorder:
    """Writes the events of one row job to the journal, and shows its progress."""

    def __init__(self, run: Run, display: Display, done: int, number: int) -> None:
        """``done`` is how many processes are recorded, ``number`` the round."""
        self._run = run
        self._display = display
        self._done = done
        self._number = number
        #: The processes with turns in the journal and without a record.
        self._open: set[tuple[str, int, int]] = set()

    def run(self, job: RowJob) -> None:
        """Run the job and record it, whatever interrupts it."""
        try:
            self._run.executor.run(job, self.handle)
        finally:
            if self._open:
                # The executor broke down: what it sent before becomes records.
                self._run.records += self._run.journal.settle()
            else:
                self._run.journal.forget()

    def handle(self, event: Event) -> None:
        journal = self._run.journal
        match event:
            case Progress(stage, cell):
                what = f"round {self._number + 1}: {stage} {cell}"
                self._display.at(what, self._done, brief=stage == "measuring")
            case TurnTaken(cell, number, attempt, samples):
                self._open.add((cell, number, attempt))
                journal.turn(cell, number, attempt, samples)
            case Ready(record):
                journal.begin(record)
            case Finished(record):
                self._open.discard((record.cell.name, record.round, record.attempt))
                journal.append(record)
                self._run.records.append(record)
            case Waited(seconds):
                self._run.waited_s += seconds
