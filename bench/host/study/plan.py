"""Knows what a plan is: the cells that one invocation measures, those it leaves out and why, and how thoroughly."""

from __future__ import annotations

from dataclasses import dataclass

from bench.cell import Cell

from ..statistics import stopping
from .schema import Profile

#: With a budget, rounds go on to this number, or to twice the first look's if that is more.
MOST_WITH_BUDGET = 20
#: Fewer rounds than this give no verdict at the first look.
FIRST_WITH_BUDGET = 10


@dataclass(frozen=True)
class Plan:
    """The cells of one invocation, in the order of the table: by row, then by column."""

    cells: tuple[Cell, ...]
    #: Cells that belong to the table but cannot or shall not be measured, each with its reason.
    excluded: tuple[tuple[Cell, str], ...]
    profile: Profile
    seed: int
    #: Threads of every framework.
    threads: int
    #: The column that ratios are taken to.
    baseline: str = ""
    #: Seconds that the measuring may take; None is as long as it takes.
    budget_s: float | None = None
    #: Whether cells whose settings differ from the baseline's get no ratio.
    strict: bool = False
    #: Find the largest batch that fits into this much memory; None does not.
    memory_cap_bytes: int | None = None

    @property
    def looks(self) -> tuple[int, ...]:
        """Give the numbers of rounds after which verdicts are looked at; the last is the most that are measured."""
        first, most = self.profile.rounds, self.profile.most_rounds or self.profile.rounds
        if self.budget_s is not None and self.profile.most_rounds is None:
            first = max(first, FIRST_WITH_BUDGET)
            most = max(MOST_WITH_BUDGET, 2 * first)
        return stopping.looks(first, most)
