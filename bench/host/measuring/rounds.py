"""Measures a run: rows in rounds until each row stops; in a trial, the cells of a round side by side."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bench.cell import Cell
from bench.record import Record

from ..executors.job import RowJob, RowRound
from ..executors.lanes import Lanes
from ..executors.local import Executor
from ..reporting.progress import Display, RemainingTime
from ..storage.journal import Journal
from ..study.rows import group_by_row
from . import late_checks, order
from .growth_checks import GrowthChecks
from .noise_alarm import NoiseAlarm
from .recorder import Recorder
from .stopping import Stops


@dataclass(kw_only=True)
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
    #: Where the cells of a trial are measured side by side, each alone; None for rows that take turns.
    lanes: Lanes | None = None
    #: Gets the key and the values of peaks of the machine that were measured again.
    note_peaks: Callable[[str, Mapping[str, Any]], None] = lambda key, found: None
    growth: GrowthChecks = field(default_factory=GrowthChecks)
    #: None where times mean nothing, as in a trial, or where nobody reads a warning.
    alarm: NoiseAlarm | None = None
    #: Seconds in which the host only waited for workers.
    waited_s: float = 0.0

    def measure(self, display: Display, remaining: RemainingTime) -> None:
        """Measure everything that is left.

        KeyboardInterrupt passes through after the processes under way have been killed and their turns recorded.
        """
        rows = group_by_row(self.cells)
        with contextlib.nullcontext() if self.lanes is None else contextlib.closing(self.lanes) as lanes:
            for number in range(self.stops.looks[-1]):
                self.stops.look(number, self.records)
                if number == 0 or number in self.stops.looks:
                    self._expect(number, rows, remaining)
                if lanes is not None:
                    self._measure_side_by_side(number, rows, lanes, display, remaining)
                    continue
                for row in order.row_order(rows, number, self.seed):
                    self._measure_row(number, row, rows[row], display, remaining)
        self.stops.look(self.stops.looks[-1], self.records)

    def _expect(self, number: int, rows: Mapping[str, Sequence[Cell]], remaining: RemainingTime) -> None:
        """Let the estimate count what is left until the next look."""
        for later in range(number, self.stops.next_look(number)):
            for row in order.row_order(rows, later, self.seed):
                row_round = self._row_round(later, row, rows[row])
                if row in self.stops.made or not row_round.cells:
                    continue
                if self.lanes is None:
                    remaining.expect(later, row, len(row_round.cells))
                else:
                    for cell in row_round.cells:
                        remaining.expect(later, cell.name, 1)

    def _measure_row(
        self, number: int, row: str, cells: Sequence[Cell], display: Display, remaining: RemainingTime
    ) -> None:
        began = time.monotonic()
        row_round = self._row_round(number, row, cells)
        wanted = bool(row_round.cells) and not self.stops.over(row, number, remaining.next_s(number, row))
        if wanted:
            job = self._job(row_round)
            recorder = self._recorder(display, number)
            with recorder.recording():
                self.executor.run(job, recorder.handle)
            self.growth.note(job, self.records)
            if self.alarm is not None:
                self.alarm.note(job.row_round, self.records)
        remaining.done(number, row, time.monotonic() - began, measured=wanted)

    def _measure_side_by_side(
        self,
        number: int,
        rows: Mapping[str, Sequence[Cell]],
        lanes: Lanes,
        display: Display,
        remaining: RemainingTime,
    ) -> None:
        """Measure a round of a trial, each cell for itself, on all processors."""
        recorder = self._recorder(display, number, beside=len(lanes))
        began: dict[str, float] = {}

        def jobs() -> Iterator[RowJob]:
            for row in order.row_order(rows, number, self.seed):
                for job in self._cells_alone(number, row, rows[row], remaining):
                    cell = job.row_round.cells[0]
                    began[cell.name] = time.monotonic()
                    recorder.expect(cell, number, job.row_round.attempt)
                    # What all lanes need together must fit into the memory.
                    share = None if job.memory_share is None else job.memory_share / len(lanes)
                    yield replace(job, memory_share=share)

        def done(job: RowJob) -> None:
            name = job.row_round.cells[0].name
            remaining.done(number, name, (time.monotonic() - began[name]) / len(lanes), measured=True)

        with recorder.recording():
            lanes.run(jobs(), recorder.handle, done)

    def _cells_alone(self, number: int, row: str, cells: Sequence[Cell], remaining: RemainingTime) -> Iterator[RowJob]:
        """Yield a job for each cell of a row; none where the budget is spent."""
        row_round = self._row_round(number, row, cells)
        next_s = sum(remaining.next_s(number, cell.name) for cell in row_round.cells)
        if not row_round.cells or self.stops.over(row, number, next_s):
            for cell in cells:
                remaining.done(number, cell.name, 0.0, measured=False)
            return
        for cell, turn in zip(row_round.cells, row_round.first_turns, strict=True):
            yield self._job(replace(row_round, cells=(cell,), first_turns=(turn,)))

    def _row_round(self, number: int, row: str, cells: Sequence[Cell]) -> RowRound:
        return order.row_round(number, row, self.stops.going(row, cells), self.records, self.samples)

    def _job(self, row_round: RowRound) -> RowJob:
        job = self.growth.assign(self.make_job(row_round, self.stops.left_s()), self.records)
        # With a budget any round may be the last.
        if job.left_s is not None:
            return job
        again = late_checks.drawn(row_round.cells, row_round.round, self.stops.looks[0], self.records)
        return replace(job, checked_again=again)

    def _recorder(self, display: Display, number: int, *, beside: int = 1) -> Recorder:
        def wait(seconds: float) -> None:
            self.waited_s += seconds / beside

        return Recorder(self.journal, self.records, display, number, wait, self.note_peaks)
