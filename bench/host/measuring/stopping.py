"""Decides after which round each row of a run stops, and why: settled, most rounds, or the budget is spent.

In a row that goes on after a look, only those of its cells go on that a verdict still needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from bench.cell import Cell
from bench.record import Record

from ..storage.manifest import BUDGET, MOST_ROUNDS, SETTLED, Stop
from ..study.rows import group_by_row

#: Returns the cells that need more rounds after so many, given the records of those rounds.
Judge = Callable[[Sequence[Record], int], Iterable[Cell]]


@dataclass
class Stops:
    """The stops of one run. They follow from the records, so that a continued run has the same stops."""

    rows: Sequence[str]
    #: Numbers of rounds after which the rows are looked at, ascending; the last is the end.
    looks: Sequence[int]
    undecided: Judge
    #: Seconds of the budget that are left at the start; None for no limit.
    budget_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    #: {row: its stop}
    made: dict[str, Stop] = field(default_factory=dict)
    #: {row that went on after a look: its cells that went on}
    _going: dict[str, frozenset[Cell]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def look(self, rounds: int, records: Sequence[Record]) -> None:
        """Stop what is settled after so many rounds, if that is a look: cells, and rows of which none goes on.

        All rows stop at the last look.
        """
        if rounds not in self.looks:
            return
        going = [row for row in self.rows if row not in self.made]
        if rounds == self.looks[-1]:
            self.made.update(dict.fromkeys(going, Stop(rounds, MOST_ROUNDS)))
            return
        done = [record for record in records if record.round < rounds]
        undecided = group_by_row(self.undecided(done, rounds) if going else ())
        for row in going:
            # A cell that stopped stays out, even if its verdict is open again: the rounds between are missing.
            self._going[row] = frozenset(self.going(row, undecided.get(row, ())))
            if not self._going[row]:
                self.made[row] = Stop(rounds, SETTLED)

    def going(self, row: str, cells: Iterable[Cell]) -> tuple[Cell, ...]:
        """Return those of a row's cells that no look has stopped."""
        return tuple(cell for cell in cells if row not in self._going or cell in self._going[row])

    def goes_on(self, cell: Cell) -> bool:
        """Return whether no look has stopped a cell."""
        return bool(self.going(cell.row, (cell,)))

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
