"""Summarises how the processes of a cell warmed up: their classes, and the samples left out of their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..statistics.location import median
from ..statistics.warmup import WarmupClass
from .processes import TimedProcess


@dataclass(frozen=True)
class WarmUp:
    """The classes of a cell's processes."""

    #: How many processes have each class, the commonest first.
    classes: tuple[tuple[WarmupClass, int], ...]
    #: Samples that were left out as they came before the steady state.
    early: int
    #: Median over the processes of their median seconds per step, with those samples.
    whole_s: float

    @property
    def commonest(self) -> WarmupClass:
        """The commonest class."""
        return self.classes[0][0]

    @property
    def agreeing(self) -> int:
        return self.classes[0][1]

    @property
    def processes(self) -> int:
        return sum(number for _, number in self.classes)

    def number_of(self, one: WarmupClass) -> int:
        return dict(self.classes).get(one, 0)


def warm_up_of(timed: Sequence[TimedProcess]) -> WarmUp | None:
    """Summarise the warm-up of a cell's processes; None where there are none."""
    if not timed:
        return None
    classes = tuple(Counter(process.warmup.kind for process in timed).most_common())
    whole_s = median(np.array([process.whole_s for process in timed]))
    return WarmUp(classes, sum(process.early for process in timed), whole_s)
