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

from bench.record import Record

#: A turn that waited for less than this share of its time is not disturbed.
SHARE = 0.10
#: Nor is one that waited for less than this many times the share of the process's best turns (the ``BEST`` quantile),
#: which its own threads cause.
FACTOR = 3.0
BEST = 0.1
#: Processors that other programs may use beside a cell of several threads; its step ends with the slowest thread.
CROWD = 0.25
#: The most turns to repeat, as a share of those planned.
MOST_REPEATS = 0.5


def waiting_shares(record: Record) -> dict[int, float]:
    """Return for each turn the share of its time that a thread waited for other programs, on average.

    A process cannot use the processors while other programs have them, so no more counts than what it left unused.
    """
    lasted = np.array(record.sample_ns, dtype=np.float64) * record.cell.threads
    if len(record.sample_wait_ns) != len(lasted) or not len(lasted):
        return {}
    waited = np.array(record.sample_wait_ns, dtype=np.float64)
    if len(record.sample_cpu_ns) == len(lasted):
        waited = np.minimum(waited, np.maximum(0.0, lasted - record.sample_cpu_ns))
    turns, places = np.unique(record.sample_turn, return_inverse=True)
    total, all_of = np.bincount(places, waited), np.bincount(places, lasted)
    return {int(turn): float(share) for turn, share in zip(turns, total / np.maximum(1.0, all_of), strict=True)}


def disturbed_turns(records: Iterable[Record], foreign: Mapping[int, str]) -> dict[int, str]:
    """Return the disturbed turns of processes that took turns with each other, and what disturbed them.

    A turn that is disturbed for one process is disturbed for all, as a pair needs both. ``foreign`` names turns in
    which another process was seen on the device.
    """
    found = {turn: [reason] for turn, reason in foreign.items()}
    waited, certain = _waits(records)
    for turn in certain:
        found.setdefault(turn, []).extend(waited[turn])
    return {turn: "; ".join(reasons) for turn, reasons in sorted(found.items())}


def doubtful_turns(records: Iterable[Record]) -> set[int]:
    """Return the turns in which too few of several cells waited to tell other programs from their own threads."""
    waited, certain = _waits(records)
    return set(waited) - certain


def _waits(records: Iterable[Record]) -> tuple[dict[int, list[str]], set[int]]:
    """Return who waited too long in which turns, and the turns in which other programs were certainly the cause."""
    waited: dict[int, list[str]] = {}
    there = [(record, shares) for record in records if (shares := waiting_shares(record))]
    for record, shares in there:
        own = FACTOR * float(np.quantile(list(shares.values()), BEST)) if record.cell.threads > 1 else 0.0
        for turn, share in shares.items():
            if share > max(SHARE, own):
                waited.setdefault(turn, []).append(f"{record.cell.column} waited {share:.0%} of it for a processor")
    several = any(record.cell.threads > 1 for record, _ in there)
    witnesses = {turn: sum(turn in shares for _, shares in there) for turn in waited}
    return waited, {turn for turn, reasons in waited.items() if not several or 2 * len(reasons) > witnesses[turn]}


def left_out(record: Record) -> set[int]:
    """Return the turns that statistics leave out: the disturbed ones, unless fewer than half would remain.

    All processes of a row and round have the same ones, so pairs stay pairs; the record keeps their samples.
    """
    return set() if mostly_disturbed(record) else _disturbed(record)


def mostly_disturbed(record: Record) -> bool:
    """Tell whether more than half of a process's turns were disturbed, so that its times include other programs."""
    return 2 * len(_disturbed(record)) > len(set(record.sample_turn))


def crowded(record: Record) -> bool:
    """Tell whether other programs computed beside several threads, where waiting cannot show it.

    Several threads wait for each other, too. For a single thread the waiting shows it, and those turns are left out.
    """
    return record.cell.threads > 1 and (record.other_load or 0.0) > CROWD


def _disturbed(record: Record) -> set[int]:
    return set(record.sample_turn) & {int(turn) for turn in record.disturbed} if record.disturbed else set()


def repeats(disturbed: Sequence[int], planned: int) -> int:
    """Return how many turns to repeat."""
    return min(len(disturbed), int(planned * MOST_REPEATS))
