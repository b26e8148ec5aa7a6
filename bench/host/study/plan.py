"""Defines a plan: the cells that one invocation measures, those it leaves out and why, and how thoroughly."""

from __future__ import annotations

from dataclasses import dataclass

from bench.cell import Cell
from bench.registry import Registry

from .baseline import SPEED_UP
from .schema import Profile

#: With a budget, rounds go on to this number, or to twice the first look's if that is more.
MOST_WITH_BUDGET = 20
#: With fewer rounds than this, the first look cannot give a verdict.
FIRST_WITH_BUDGET = 10


@dataclass(frozen=True)
class Plan:
    """The cells of one invocation, in the order of the table: by row, then by column."""

    cells: tuple[Cell, ...]
    #: Cells of the table that are not measured, each with its reason.
    excluded: tuple[tuple[Cell, str], ...]
    profile: Profile
    seed: int
    #: The most threads that a cell has.
    threads: int
    #: The column that the others are divided by.
    baseline: str
    #: Where the cells' frameworks and workloads are.
    registry: Registry
    #: What tables show of a comparison.
    ratios: str = SPEED_UP
    #: The most seconds that measuring may take; None sets no limit.
    budget_s: float | None = None
    #: Whether cells get no ratio where their settings differ from the baseline's.
    strict: bool = False
    #: Find the largest batch that fits into this much memory; None finds none.
    memory_cap_bytes: int | None = None
    #: What of the choice had no effect, in sentences.
    remarks: tuple[str, ...] = ()

    @property
    def looks(self) -> tuple[int, ...]:
        """Return the numbers of rounds after which stopping is decided; the last one is the most that are measured."""
        first, most = self.profile.rounds, self.profile.most_rounds or self.profile.rounds
        if self.budget_s is not None and self.profile.most_rounds is None:
            first = max(first, FIRST_WITH_BUDGET)
            most = max(MOST_WITH_BUDGET, 2 * first)
        if most <= first:
            return (first,)
        # Imported only now: SciPy takes half a second, which --dry-run need not wait for.
        from ..statistics import stopping

        return stopping.looks(first, most)
