"""Selects the samples of a process that count: from the steady state on, without the disturbed turns.

Every statistic starts here: in tables, in stopping, and in the validation of the method.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench.cell import Cell
from bench.record import OK, Record

from ..statistics.location import FloatArray, Location, locate_each, medians
from ..statistics.pairs import Process, TurnArray, by_turn_each
from ..statistics.warmup import Warmup, classify, steady_turn
from .noise_watch import left_out, unusable, waiting_shares


@dataclass(frozen=True, eq=False)
class TimedProcess:
    """A process with status ``ok`` that has samples."""

    record: Record
    warmup: Warmup
    #: Where the samples that count lie, in seconds per step.
    location: Location
    #: Median seconds per step, with the samples before the steady state.
    whole_s: float
    #: The turns, for a comparison with a process that took turns with this one.
    turns: Process

    @property
    def key(self) -> Hashable:
        """The key that processes of different cells share if they ran at the same time and took turns."""
        return self.record.round, self.record.attempt

    @cached_property
    def disturbed(self) -> bool:
        """Tell whether its samples count although most of its turns were disturbed."""
        return unusable(self.record)

    @cached_property
    def waiting_shares(self) -> tuple[float, ...]:
        """The share of each turn in which a thread waited for other programs; empty where that is not known."""
        return tuple(waiting_shares(self.record).values())

    @property
    def early(self) -> int:
        """Samples that do not count, as they were taken before the steady state."""
        return int(np.count_nonzero(self.turns.sample_turns < self.turns.steady_turn))


def timed_processes(records: Iterable[Record]) -> list[TimedProcess]:
    """Find the processes with status ``ok`` and samples; all at once, since a study has thousands of them."""
    kept = [(record, *undisturbed(record)) for record in records if record.status == OK and record.sample_ns]
    # The trials of the calibration come first; the shortest may take no time by the clock.
    courses = [np.concatenate([np.maximum(1.0, record.warmup_ns) / 1e9, step_s]) for record, step_s, _ in kept]
    # Processes that took the same turns, and were steady from the same one on, are rows of one table.
    alike: dict[tuple[bytes, int], list[int]] = {}
    warmups = classify(courses, [len(record.warmup_ns) for record, _, _ in kept])
    for i, ((record, _, turns), warmup) in enumerate(zip(kept, warmups, strict=True)):
        first = steady_turn(warmup, len(record.warmup_ns), turns)
        alike.setdefault((turns.tobytes(), first), []).append(i)
    found: dict[int, TimedProcess] = {}
    for (_, first), group in alike.items():
        turns, step_s = kept[group[0]][2], np.array([kept[i][1] for i in group])
        steady = turns >= first
        # None are left where the steady state began within the last turn.
        locations = locate_each(step_s[:, steady] if steady.any() else step_s)
        each = zip(locations, medians(step_s), by_turn_each(step_s, turns, first), strict=True)
        found |= {i: TimedProcess(kept[i][0], warmups[i], *one) for i, one in zip(group, each, strict=True)}
    return [found[i] for i in range(len(kept))]


def timed_by_cell(records: Iterable[Record]) -> dict[Cell, list[TimedProcess]]:
    """Group the processes that have samples by cell."""
    found: dict[Cell, list[TimedProcess]] = {}
    for process in timed_processes(records):
        found.setdefault(process.record.cell, []).append(process)
    return found


def undisturbed(record: Record) -> tuple[FloatArray, TurnArray]:
    """Return the seconds per step of the samples whose turns were not disturbed, in order, and the turn of each."""
    step_s = np.array(record.sample_ns, dtype=np.float64) / (np.array(record.sample_steps) * 1e9)
    turns = np.array(record.sample_turn, dtype=np.int64)
    if not record.disturbed:
        return step_s, turns
    kept = np.isin(turns, list(left_out(record)), invert=True)
    return step_s[kept], turns[kept]
