"""Finds turns that other programs disturbed, so that they can be marked and repeated.

The sign is the time in which a process was ready to compute and had to wait for a processor. Threads of the process
that wait for each other must not be mistaken for another program:

- A cell of one thread leaves no processor time unused while its background threads wait for each other.
- Several threads wait for about the same share of every turn.
- Several threads that the scheduler puts on one of two processors for a while disturb their own process only; another
  program disturbs every process that has the turn.
- A program that computes beside several threads all the time is found by the other load of the processors.

How long a sample took decides nothing, since leaving out slow samples would be choosing the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench.cell import Cell
from bench.record import OK, Record

from .quality import withheld

#: A turn that waited for less than this share of its time is not disturbed.
LEAST_WAITING_SHARE = 0.10
#: Nor is one that waited for less than this many times the share of the process's best turns (the ``BEST`` quantile),
#: which its own threads cause.
FACTOR = 3.0
BEST = 0.1
#: Processors that other programs may use beside a cell of several threads; its step ends with the slowest thread.
CROWDED_PROCESSORS = 0.25
#: The most turns to repeat, as a share of those planned.
MOST_REPEATS = 0.5


def waiting_shares(record: Record) -> dict[int, float]:
    """Return for each turn the share of its time that a thread waited for other programs, on average.

    A process cannot use the processors while other programs have them, so no more counts than what it left unused.
    """
    if len(record.sample_wait_ns) != len(record.sample_ns) or not record.sample_ns:
        return {}
    lasted = np.array(record.sample_ns, dtype=np.float64) * record.cell.threads
    waited = np.array(record.sample_wait_ns, dtype=np.float64)
    if len(record.sample_cpu_ns) == len(lasted):
        waited = np.minimum(waited, np.maximum(0.0, lasted - record.sample_cpu_ns))
    turns, places = np.unique(record.sample_turn, return_inverse=True)
    total, all_of = np.bincount(places, waited), np.bincount(places, lasted)
    return {int(turn): float(share) for turn, share in zip(turns, total / np.maximum(1.0, all_of), strict=True)}


def disturbed_turns(records: Sequence[Record], on_gpu: Mapping[int, str]) -> list[dict[int, str]]:
    """Return the disturbed turns of each process of those that took turns with each other, and what disturbed them.

    One thread that waited says so of its own turn alone, and a pair leaves out the turns of both. In a row of 20 cells
    something happens to one of them in most turns. Several threads need witnesses, so that such a turn is disturbed for
    all. ``on_gpu`` has the turns in which something was seen on the GPU: another process, or a clock that heat lowered.
    """
    waited, several = _waits(records)
    if several:
        shared = {turn: "; ".join(each[turn] for each in waited if turn in each) for turn in _certain(records, waited)}
        waited = [shared] * len(waited)
    return [_joined(on_gpu, own) for own in waited]


def _joined(*reasons: Mapping[int, str]) -> dict[int, str]:
    turns = sorted(set().union(*reasons))
    return {turn: "; ".join(each[turn] for each in reasons if turn in each) for turn in turns}


def doubtful_turns(records: Sequence[Record]) -> set[int]:
    """Return the turns in which too few of several cells waited to tell other programs from their own threads."""
    waited, several = _waits(records)
    return set().union(*waited) - _certain(records, waited) if several else set()


def _waits(records: Sequence[Record]) -> tuple[list[dict[int, str]], bool]:
    """Return for each process the turns in which it waited too long; and whether one of them has several threads."""
    found = []
    for record in records:
        shares = waiting_shares(record)
        own = FACTOR * float(np.quantile(list(shares.values()), BEST)) if shares and record.cell.threads > 1 else 0.0
        long = {turn: share for turn, share in shares.items() if share > max(LEAST_WAITING_SHARE, own)}
        column = record.cell.column
        found.append({turn: f"{column} waited {share:.0%} of it for a processor" for turn, share in long.items()})
    return found, any(record.cell.threads > 1 and record.sample_wait_ns for record in records)


def _certain(records: Sequence[Record], waited: Sequence[Mapping[int, str]]) -> set[int]:
    """Return the turns in which so many of the processes waited that other programs were certainly the cause."""
    shares = [waiting_shares(record) for record in records]
    return {
        turn
        for turn in set().union(*waited)
        if 2 * sum(turn in each for each in waited) > sum(turn in each for each in shares)
    }


def left_out(record: Record) -> set[int]:
    """Return the turns that statistics leave out: the disturbed ones, unless fewer than half would remain.

    A pair leaves out those of both processes; the record keeps their samples.
    """
    return set() if mostly_disturbed(record) else _disturbed(record)


def mostly_disturbed(record: Record) -> bool:
    """Tell whether more than half of a process's turns were disturbed, so that its times include other programs."""
    return 2 * len(_disturbed(record)) > len(set(record.sample_turn))


def crowded(record: Record) -> bool:
    """Tell whether other programs computed beside several threads, where waiting cannot show it.

    Several threads wait for each other, too. For a single thread the waiting shows it, and those turns are left out.
    """
    return record.cell.threads > 1 and (record.other_load or 0.0) > CROWDED_PROCESSORS


def unusable(record: Record) -> bool:
    """Tell whether a process's samples count although other programs disturbed most of them."""
    return mostly_disturbed(record) or crowded(record)


def withheld_cells(records: Iterable[Record]) -> set[Cell]:
    """Return the cells whose times reports withhold, as too many of their timed processes are unusable."""
    timed: dict[Cell, list[bool]] = {}
    for record in records:
        if record.status == OK and record.sample_ns:
            timed.setdefault(record.cell, []).append(unusable(record))
    return {cell for cell, found in timed.items() if withheld(sum(found), len(found))}


def _disturbed(record: Record) -> set[int]:
    return set(record.sample_turn) & {int(turn) for turn in record.disturbed} if record.disturbed else set()


def repeats(disturbed: Sequence[Mapping[int, str]], planned: int) -> int:
    """Return how many turns to repeat: as many as a pair of processes has lost at most."""
    turns = [frozenset(each) for each in disturbed]
    lost = max((len(one | other) for one in turns for other in turns), default=0)
    return min(lost, int(planned * MOST_REPEATS))
