"""Knows what happens in one sitting: the processes of a row start, are prepared, take turns, repeat what was disturbed
and finish."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..analysis import noise_watch
from ..machine.gpu import Gpus, bytes_of, foreigners
from ..machine.other_load import OtherLoad, Reading
from ..machine.processors import frequencies_mhz
from ..measuring import order
from ..storage.journal import Journal
from ..workers.protocol import Ended
from .cell_process import Seat

if TYPE_CHECKING:
    from ..measuring.rounds import Caches, Conditions


@dataclass
class Sitters:
    """The processes of one sitting."""

    sitting: order.Sitting
    seats: Sequence[Seat]
    conditions: Conditions
    journal: Journal
    caches: Caches
    gpus: Gpus
    say: Callable[[str, Seat], None]
    #: Whether there is no time to repeat what was disturbed.
    exhausted: Callable[[], bool] = lambda: False
    #: The turns in which somebody else was seen on the GPU, and who.
    foreign: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._load = OtherLoad(self.conditions.processors)
        self._before: Reading | None = None

    def refuse(self, ended: Ended) -> None:
        """End all cells before they have a process."""
        for seat in self.seats:
            seat.refuse(ended)

    def measure(self, reference: Path) -> None:
        """Measure the row; every seat's record then holds what its process came to."""
        self._import()
        self._prepare(reference)
        planned = self.conditions.profile.samples
        self._before = self._load.read(self._processes())
        self._take_turns(range(min(self.sitting.first_turns), planned))
        if not self.exhausted():
            more = noise_watch.repeats(sorted(self._disturbed(self.foreign)), planned)
            self._take_turns(range(planned, planned + more))
        self.mark_disturbed()
        for seat in self.seats:
            seat.finish()
            reason = self.conditions.implausible(seat.record)
            if reason is not None:
                seat.condemn(reason)

    def mark_disturbed(self) -> None:
        """Mark what is disturbed in the turns taken so far, and how much others computed meanwhile."""
        disturbed = self._disturbed(self.foreign)
        others = self._load.since(self._before, self._load.read(self._processes()))
        for seat in self.seats:
            seat.note_disturbed(disturbed)
            seat.note_other_load(others)

    def _processes(self) -> set[int]:
        """Return the processes that are measured."""
        return {seat.process_id for seat in self.seats if not seat.over and seat.process_id is not None}

    def _import(self) -> None:
        """Start the workers, as many at once as there are processors: imports are not what is measured."""
        at_once = len(self.seats) if self.conditions.at_once else max(1, len(self.conditions.processors))
        alone = at_once == 1 or len(self.seats) == 1
        for index, seat in enumerate(self.seats):
            for soon in self.seats[index + at_once - 1 : index + at_once] if index else self.seats[:at_once]:
                soon.ask_import(self.conditions.memory_limit_bytes)
            self.say("importing", seat)
            seat.await_import(alone=alone)

    def _prepare(self, reference: Path) -> None:
        """Build, check and calibrate one cell after the other, where the first call is measured."""
        for together in [self.seats] if self.conditions.at_once else [[seat] for seat in self.seats]:
            states = [self.caches.state(seat.record.cell) for seat in together]
            for seat in together:
                self.say("preparing", seat)
                if not seat.over:
                    self.caches.begin(seat.record.cell)
                seat.ask_prepare(
                    seed=self.conditions.seed,
                    reference=str(reference),
                    sample_s=self.conditions.profile.sample_seconds,
                    data=self.conditions.data.get(seat.record.cell.workload),
                    **self.conditions.planted(seat.record.cell),
                )
            for seat, state in zip(together, states, strict=True):
                seat.await_prepare(cache=state)
                if not seat.over:
                    self.caches.fill(seat.record.cell)
                    self.journal.begin(seat.record)
        if self.conditions.at_once:
            for seat in self.seats:
                seat.move(self.conditions.processors)

    def _take_turns(self, turns: range) -> None:
        """Take turns in seeded random order, one sample at a time, every other worker stopped."""
        seed = self.conditions.seed_of_orders
        for turn in turns:
            sequence = order.turn_order(seed, self.sitting.round, self.sitting.row, turn, len(self.seats))
            for index in sequence:
                seat = self.seats[index]
                # After a break some cells are a turn ahead: they wait for the others.
                if seat.over or seat.next_turn != turn:
                    continue
                self.say("measuring", seat)
                taken = seat.turn(1)
                if taken is not None:
                    self.journal.turn(seat.record, taken)
                    seat.note_frequencies(frequencies_mhz(self.conditions.processors))
            strangers = self._look_at_gpus()
            if strangers:
                self.foreign[turn] = f"another process on the GPU: {', '.join(map(str, strangers))}"

    def _look_at_gpus(self) -> list[int]:
        """Note the memory of each process as the driver sees it; return the processes that are not ours."""
        on_gpu = [seat for seat in self.seats if seat.record.cell.device == "gpu" and not seat.over]
        if not on_gpu:
            return []
        processes = self.gpus.process_bytes()
        own = {seat.process_id for seat in self.seats if seat.process_id is not None}
        for seat in on_gpu:
            used = bytes_of(seat.process_id, processes) if seat.process_id is not None else 0
            if used:
                seat.note_memory("nvml_peak_bytes", used)
        return foreigners({number for number in own if number is not None}, processes)

    def _disturbed(self, foreign: dict[int, str]) -> dict[int, str]:
        return noise_watch.disturbed_turns((seat.record for seat in self.seats), foreign)
