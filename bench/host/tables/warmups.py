"""Knows how the processes of a cell warmed up: the class that most have, and what was left out of their times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..processes import Timed
from ..statistics.warmup import FEWEST, Kind

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
    """The commonest class of a cell's processes, and in how many of them."""

    kind: Kind
    agreeing: int
    processes: int
    #: Samples that were left out as they came before the steady state.
    early: int
    #: Median over the processes of their median seconds per step, with those samples.
    whole_s: float


def warm_up_of(timed: Sequence[Timed]) -> WarmUp | None:
    """Summarise the warm-up of a cell's processes; None where there are none."""
    if not timed:
        return None
    ((kind, agreeing),) = Counter(process.warmup.kind for process in timed).most_common(1)
    whole_s = float(np.median([process.whole_s for process in timed]))
    return WarmUp(kind, agreeing, len(timed), sum(process.early for process in timed), whole_s)


def format_warm_up(found: WarmUp | None) -> str:
    """Write the class and how many processes have it: ``flat 9/10``."""
    return "" if found is None else f"{found.kind.value} {found.agreeing}/{found.processes}"
