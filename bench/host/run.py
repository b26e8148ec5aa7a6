"""Knows how a run goes: rows in rounds, a fresh process per cell, measured in turns, recorded at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from bench.cell import Cell
from bench.record import FAILED, OK, Record

from . import schedule
from .journal import Journal
from .progress import Display, Estimate
from .references import References
from .schema import Profile
from .seat import Seat, Talks
from .workers import Ended


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


class Caches(Protocol):
    """What a run needs to know of compilation caches."""

    def state(self, cell: Cell) -> str: ...
    def fill(self, cell: Cell) -> None: ...


@dataclass
class Run:
    """A run under way."""

    cells: Sequence[Cell]
    conditions: Conditions
    journal: Journal
    references: References
    #: Start a worker for a cell; the attempt's log gets its name from the round and the attempt.
    start: Callable[[Cell, int, int], Talks]
    caches: Caches
    records: list[Record] = field(default_factory=list)
    #: Seconds in which this host only waited for workers, and all of them.
    waited_s: float = 0.0
    elapsed_s: float = 0.0

    def measure(self, display: Display, estimate: Estimate) -> None:
        """Measure everything that is left, in the order of the schedule.

        KeyboardInterrupt passes through after the processes under way have been killed and their turns recorded.
        """
        start = time.monotonic()
        rows = schedule.groups(self.cells)
        try:
            for number, row in schedule.sittings(self.cells, self.conditions.profile.rounds, self.conditions.seed):
                began = time.monotonic()
                sitting = schedule.sitting(number, row, rows[row], self.records, self.conditions.profile.samples)
                if sitting.cells:
                    self._sit(sitting, display)
                estimate.done(number, row, time.monotonic() - began, measured=bool(sitting.cells))
        finally:
            self.elapsed_s += time.monotonic() - start

    def _sit(self, sitting: schedule.Sitting, display: Display) -> None:
        """Measure one row in one round."""
        seats = [
            self._seat(cell, sitting.round, sitting.attempt, first)
            for cell, first in zip(sitting.cells, sitting.first_turns, strict=True)
        ]
        done = len(self.records)

        def say(what: str, seat: Seat) -> None:
            where = f"round {sitting.round + 1}: {what} {seat.record.cell.name}"
            display.at(where, done, brief=what == "measuring")

        try:
            began = time.monotonic()
            reference = self._reference(sitting.cells[0])
            self.waited_s += time.monotonic() - began
            if isinstance(reference, Ended):
                for seat in seats:
                    seat.refuse(reference)
            else:
                self._import(seats, say)
                self._prepare(seats, reference, say)
                self._take_turns(sitting, seats, say)
                for seat in seats:
                    seat.finish()
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
        return Seat(
            cell,
            number,
            attempt,
            first_turn,
            start=lambda: self.start(cell, number, attempt),
            timeout_s=self.conditions.profile.timeout_s,
            run=self.conditions.run,
        )

    def _reference(self, cell: Cell) -> Path | Ended:
        try:
            return self.references.ensure(cell, self.conditions.data.get(cell.workload))
        except Ended as ended:
            return Ended(FAILED, "check", f"the float64 reference could not be computed: {ended.reason}")

    def _import(self, seats: Sequence[Seat], say: Callable[[str, Seat], None]) -> None:
        """Start the workers, as many at once as there are processors: imports are not what is measured."""
        at_once = max(1, len(self.conditions.processors))
        alone = at_once == 1 or len(seats) == 1
        for index, seat in enumerate(seats):
            for soon in seats[index + at_once - 1 : index + at_once] if index else seats[:at_once]:
                soon.ask_import(self.conditions.memory_limit_bytes)
            say("importing", seat)
            seat.await_import(alone=alone)

    def _prepare(self, seats: Sequence[Seat], reference: Path, say: Callable[[str, Seat], None]) -> None:
        """Build, check and calibrate one cell after the other, since the first call is measured."""
        for seat in seats:
            cell = seat.record.cell
            say("preparing", seat)
            seat.prepare(
                cache=self.caches.state(cell),
                seed=self.conditions.seed,
                reference=str(reference),
                sample_s=self.conditions.profile.sample_seconds,
                data=self.conditions.data.get(cell.workload),
            )
            if not seat.over:
                self.caches.fill(cell)
                self.journal.begin(seat.record)

    def _take_turns(self, sitting: schedule.Sitting, seats: Sequence[Seat], say: Callable[[str, Seat], None]) -> None:
        """Take the turns in seeded random order, one sample at a time, every other worker stopped."""
        for turn in range(min(sitting.first_turns), self.conditions.profile.samples):
            for index in schedule.turn_order(self.conditions.seed, sitting.round, sitting.row, turn, len(seats)):
                seat = seats[index]
                # After a break some cells are a turn ahead: they wait for the others.
                if seat.over or seat.next_turn != turn:
                    continue
                say("measuring", seat)
                taken = seat.turn(1)
                if taken is not None:
                    self.journal.turn(seat.record, taken)


def refused(cell: Cell, run: str, *, status: str, stage: str, reason: str) -> Record:
    """Make the record of a cell that never had a process: its environment could not be built, or it is excluded."""
    assert status != OK
    return Record(
        cell=cell, round=0, attempt=1, status=status, stage=stage, reason=reason, run=run, started_at=time.time()
    )
