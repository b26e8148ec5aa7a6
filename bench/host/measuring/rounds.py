"""Knows how a run goes: rows in rounds until they are settled, a fresh process per cell, recorded at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.cell import Cell
from bench.record import FAILED, OK, Record

from ..executors.cell_process import Seat
from ..executors.row_measurement import Sitters
from ..machine.gpu import Gpus
from ..reporting.progress import Display, RemainingTime
from ..storage.journal import Journal
from ..storage.references import References
from ..study.rows import group_by_row
from ..study.schema import Profile
from ..workers.protocol import Ended, Transport
from . import order
from .stopping import Stops


@dataclass(frozen=True)
class Conditions:
    """What a run needs to know beside its cells."""

    run: str
    profile: Profile
    seed: int
    #: Processors on which workers are bound.
    processors: tuple[int, ...]
    #: {workload: path of real input data, or None}
    data: Mapping[str, str | None]
    memory_limit_bytes: int | None = None
    #: Says why the samples of a record cannot be true; None where they can.
    implausible: Callable[[Record], str | None] = lambda record: None
    #: Seed of the orders of processes and of turns, and of memory layouts, where it shall differ from that of the data.
    order_seed: int | None = None
    #: What the validation of the method asks of a cell besides: a ``slowdown``, and samples ``sized_for`` one.
    planted: Callable[[Cell], Mapping[str, float]] = lambda cell: {}
    #: Whether the workers of a row import and make their first calls at the same time, each where it was started, and
    #: are bound to ``processors`` only then: for who does not measure imports and first calls.
    at_once: bool = False

    @property
    def seed_of_orders(self) -> int:
        return self.seed if self.order_seed is None else self.order_seed


class Caches(Protocol):
    """What a run needs to know of compilation caches."""

    def state(self, cell: Cell) -> str | None: ...
    def begin(self, cell: Cell) -> None: ...
    def fill(self, cell: Cell) -> None: ...


@dataclass
class Run:
    """A run under way."""

    cells: Sequence[Cell]
    conditions: Conditions
    journal: Journal
    references: References
    #: Start a worker for a cell in a round and an attempt, with the seed of its memory layout.
    start: Callable[[Cell, int, int, int], Transport]
    caches: Caches
    stops: Stops
    records: list[Record] = field(default_factory=list)
    gpus: Gpus = field(default_factory=Gpus)
    #: Seconds in which this host only waited for workers.
    waited_s: float = 0.0

    def measure(self, display: Display, estimate: RemainingTime) -> None:
        """Measure everything that is left, in the order of the schedule.

        KeyboardInterrupt passes through after the processes under way have been killed and their turns recorded.
        """
        rows = group_by_row(self.cells)
        for number in range(self.stops.looks[-1]):
            self.stops.look(number, self.records)
            if number == 0 or number in self.stops.looks:
                self._expect(number, rows, estimate)
            for row in order.row_order(rows, number, self.conditions.seed):
                self._measure_row(number, row, rows[row], display, estimate)
        self.stops.look(self.stops.looks[-1], self.records)

    def _expect(self, number: int, rows: Mapping[str, Sequence[Cell]], estimate: RemainingTime) -> None:
        """Tell the estimate what is to come until the next look."""
        for later in range(number, self.stops.next_look(number)):
            for row in order.row_order(rows, later, self.conditions.seed):
                sitting = order.sitting(later, row, rows[row], self.records, self.conditions.profile.samples)
                if row not in self.stops.made and sitting.cells:
                    estimate.expect(later, row, len(sitting.cells))

    def _measure_row(
        self, number: int, row: str, cells: Sequence[Cell], display: Display, estimate: RemainingTime
    ) -> None:
        began = time.monotonic()
        sitting = order.sitting(number, row, cells, self.records, self.conditions.profile.samples)
        wanted = bool(sitting.cells) and not self.stops.over(row, number, estimate.next_s(number, row))
        if wanted:
            self._sit(sitting, display)
        estimate.done(number, row, time.monotonic() - began, measured=wanted)

    def _sit(self, sitting: order.Sitting, display: Display) -> None:
        """Measure one row in one round."""
        done = len(self.records)

        def say(what: str, seat: Seat) -> None:
            where = f"round {sitting.round + 1}: {what} {seat.record.cell.name}"
            display.at(where, done, brief=what == "measuring")

        count = len(sitting.cells)
        seats = [
            self._seat(sitting.cells[index], sitting.round, sitting.attempt, sitting.first_turns[index])
            for index in order.seat_order(self.conditions.seed_of_orders, sitting.round, sitting.row, count)
        ]
        sitters = Sitters(
            sitting, seats, self.conditions, self.journal, self.caches, self.gpus, say, self.stops.exhausted
        )
        try:
            began = time.monotonic()
            reference = self._reference(sitting.cells[0])
            self.waited_s += time.monotonic() - began
            sitters.refuse(reference) if isinstance(reference, Ended) else sitters.measure(reference)
        except BaseException:
            sitters.mark_disturbed()
            raise
        finally:
            for seat in seats:
                seat.abandon()
                self.waited_s += seat.waited_s
                # Interrupted: what was measured counts, a process without a sample is made anew.
                if seat.over or seat.record.sample_ns:
                    self.journal.append(seat.record)
                    self.records.append(seat.record)
            self.journal.forget()

    def _seat(self, cell: Cell, number: int, attempt: int, first_turn: int) -> Seat:
        layout = order.layout_seed(self.conditions.seed_of_orders, number, cell.row, attempt)
        return Seat(
            cell,
            number,
            attempt,
            first_turn,
            start=lambda: self.start(cell, number, attempt, layout),
            timeout_s=self.conditions.profile.timeout_s,
            run=self.conditions.run,
        )

    def _reference(self, cell: Cell) -> Path | Ended:
        try:
            return self.references.ensure(cell, self.conditions.data.get(cell.workload))
        except Ended as ended:
            return Ended(FAILED, "check", f"the float64 reference could not be computed: {ended.reason}")


def refused(cell: Cell, run: str, *, status: str, stage: str, reason: str) -> Record:
    """Make the record of a cell that never had a process: its environment could not be built, or it is excluded."""
    assert status != OK
    return Record(
        cell=cell, round=0, attempt=1, status=status, stage=stage, reason=reason, run=run, started_at=time.time()
    )
