"""Decides after which round each row of a run stops, and why: settled, most rounds, or the budget is spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bench.record import Record

from ..storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Stop

#: Returns the rows that are settled after so many rounds, given the records of those rounds.
Judge = Callable[[Sequence[Record], int], Iterable[str]]


@dataclass
class Stops:
    """The stops of one run. They follow from the records, so that a continued run has the same stops."""

    rows: Sequence[str]
    #: Numbers of rounds after which the rows are looked at, ascending; the last is the end.
    looks: Sequence[int]
    settled: Judge
    #: Seconds of the budget that are left at the start; None for no limit.
    budget_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    #: {row: its stop}
    made: dict[str, Stop] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def look(self, rounds: int, records: Sequence[Record]) -> None:
        """Stop the rows that are settled after so many rounds, if that is a look; all rows at the last look."""
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
        """Return whether a row stops after so many rounds; another one would take ``next_s`` seconds."""
        left_s = self.left_s()
        if row not in self.made and left_s is not None and next_s > left_s:
            self.made[row] = Stop(rounds, BUDGET)
        return row in self.made

    def left_s(self) -> float | None:
        """Return the seconds of the budget that are left; None for no limit."""
        return None if self.budget_s is None else self.budget_s - (self.clock() - self._start)

    def next_look(self, rounds: int) -> int:
        """Return the number of rounds at which the rows are looked at next."""
        return next(look for look in self.looks if look > rounds)
