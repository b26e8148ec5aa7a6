"""Knows after which round each row of a run stops, and why: settled, most rounds, or the budget spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bench.record import Record

from ..storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Stop

#: Tells which rows are settled after so many rounds, from the records of those rounds.
Judge = Callable[[Sequence[Record], int], Iterable[str]]


@dataclass
class Stops:
    """The stops of one run; what they are follows from the records, so that a continued run comes to the same."""

    rows: Sequence[str]
    #: Numbers of rounds after which the rows are looked at, ascending; the last is the end.
    looks: Sequence[int]
    settled: Judge
    #: Seconds that are left at the start; None for no limit.
    budget_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    #: {row: its stop}
    made: dict[str, Stop] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def look(self, rounds: int, records: Sequence[Record]) -> None:
        """Stop what is settled after so many rounds, where they are a look; everything at the last one."""
        if rounds not in self.looks:
            return
        going = [row for row in self.rows if row not in self.made]
        if rounds == self.looks[-1]:
            self.made.update(dict.fromkeys(going, Stop(rounds, MOST_ROUNDS)))
            return
        done = [record for record in records if record.round < rounds]
        settled = set(self.settled(done, rounds)) if going else set()
        self.made.update({row: Stop(rounds, SETTLED) for row in going if row in settled})

    def over(self, row: str, rounds: int, next_s: float) -> bool:
        """Tell whether a row, measured in so many rounds, is not measured in another that takes ``next_s``."""
        if row not in self.made and self.exhausted(next_s):
            self.made[row] = Stop(rounds, BUDGET)
        return row in self.made

    def exhausted(self, next_s: float = 0.0) -> bool:
        """Tell whether the budget has no room for something that takes so long."""
        return self.budget_s is not None and self.clock() - self._start + next_s > self.budget_s

    def next_look(self, rounds: int) -> int:
        """Return the number of rounds at which the rows are looked at next."""
        return next(look for look in self.looks if look > rounds)
