"""Knows how the processes of a cell warmed up: the class that most have, and their time once they are steady."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.record import Record

from ..statistics.location import FloatArray, Location
from ..statistics.warmup import FEWEST, Kind, Warmup, classify, steady_from

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
    #: Median over the processes of their median seconds per step from the steady state on.
    steady_s: float


def course(record: Record) -> FloatArray:
    """Return the nanoseconds per step of the trials and samples of a process, in order."""
    samples = np.divide(record.sample_ns, record.sample_steps)
    return np.concatenate([np.maximum(1.0, record.warmup_ns), samples])


def warm_ups(cells: Sequence[tuple[Sequence[Record], Sequence[Location]]]) -> list[WarmUp | None]:
    """Classify the processes of every cell: its timed records and where their samples lie; None where there are none.

    All at once, since a study has thousands of processes.
    """
    found = iter(classify([course(record) for records, _ in cells for record in records]))
    return [
        _combine(records, locations, [next(found) for _ in records]) if records else None
        for records, locations in cells
    ]


def _combine(records: Sequence[Record], locations: Sequence[Location], found: Sequence[Warmup]) -> WarmUp:
    ((kind, agreeing),) = Counter(one.kind for one in found).most_common(1)
    medians = [
        _steady_s(record, first) if (first := steady_from(one, len(record.warmup_ns))) else location.median
        for record, location, one in zip(records, locations, found, strict=True)
    ]
    return WarmUp(kind, agreeing, len(records), float(np.median(medians)))


def _steady_s(record: Record, first: int) -> float:
    return float(np.median(np.divide(record.sample_ns[first:], record.sample_steps[first:]))) / 1e9


def format_warm_up(found: WarmUp | None) -> str:
    """Write the class and how many processes have it: ``flat 9/10``."""
    return "" if found is None else f"{found.kind.value} {found.agreeing}/{found.processes}"
