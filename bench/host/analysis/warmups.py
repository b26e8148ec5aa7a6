"""Knows how the processes of a cell warmed up: the class of each, and what was left out of their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..statistics.warmup import FEWEST, Kind
from .processes import Timed

#: What a reader is told of each class.
MEANINGS = {
    Kind.FLAT: "flat: steady from the first trial on",
    Kind.WARM_UP: "warm-up: slower at first",
    Kind.SLOWDOWN: "slowdown: faster at first",
    Kind.NO_STEADY_STATE: "no steady state: changing until the end",
    Kind.TOO_SHORT: f"too short: fewer than {FEWEST} trials and samples",
}


@dataclass(frozen=True)
class WarmUp:
    """The classes of a cell's processes."""

    #: How many processes have each class, the commonest first.
    kinds: tuple[tuple[Kind, int], ...]
    #: Samples that were left out as they came before the steady state.
    early: int
    #: Median over the processes of their median seconds per step, with those samples.
    whole_s: float

    @property
    def kind(self) -> Kind:
        """The commonest class."""
        return self.kinds[0][0]

    @property
    def agreeing(self) -> int:
        return self.kinds[0][1]

    @property
    def processes(self) -> int:
        return sum(number for _, number in self.kinds)

    def number_of(self, kind: Kind) -> int:
        return dict(self.kinds).get(kind, 0)


def warm_up_of(timed: Sequence[Timed]) -> WarmUp | None:
    """Summarise the warm-up of a cell's processes; None where there are none."""
    if not timed:
        return None
    kinds = tuple(Counter(process.warmup.kind for process in timed).most_common())
    whole_s = float(np.median([process.whole_s for process in timed]))
    return WarmUp(kinds, sum(process.early for process in timed), whole_s)


def format_warm_up(found: WarmUp | None) -> str:
    """Write how many processes have which class: ``flat 9, no steady state 1``."""
    return "" if found is None else ", ".join(f"{kind.value} {number}" for kind, number in found.kinds)
