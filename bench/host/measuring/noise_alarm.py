"""Warns during a run where other programs disturb it so much that its times cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench.record import OK, Record

from ..analysis.noise_watch import unusable
from ..executors.job import RowRound

#: Fewer processes, such as those of one row, may share one short disturbance.
FEWEST = 12
#: The least share of all processes so far with times that cannot be used.
LEAST_SHARE = 0.5


@dataclass
class NoiseAlarm:
    """Counts the processes of a run, and warns once."""

    say: Callable[[str], None]
    _timed: int = 0
    _unusable: int = 0
    _told: bool = False

    def note(self, now: RowRound, records: Iterable[Record]) -> None:
        """Count the processes that a row had in a round, given the records of the run."""
        for record in records:
            if (record.round, record.attempt) == (now.round, now.attempt) and record.cell in now.cells:
                self._timed += record.status == OK and bool(record.sample_ns)
                self._unusable += record.status == OK and unusable(record)
        if self._told or self._timed < FEWEST or self._unusable < LEAST_SHARE * self._timed:
            return
        self._told = True
        self.say(
            f"Other programs disturb the run: times of {self._unusable} of {self._timed} processes so far cannot be "
            "used. To measure again: Ctrl-C, close those programs, and add --fresh to the same command. With "
            "--fresh --wait 10m it waits for a quiet machine."
        )
