"""Knows when a turn was disturbed from outside, so that it can be marked and repeated.

The sign is the time in which a process was ready to compute and had to wait for a processor. Its own threads, which
wait for each other, must not be taken for somebody else: they give every turn about the same share; a single thread
leaves no processor time unused meanwhile; and several, which the scheduler may put on one of two processors for a
while, disturb their own process, where somebody else disturbs whoever has the turn. What a sample *took* is never
asked, since leaving out slow samples would be choosing the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench.record import Record

#: A turn that waited for less than this share of its time is not disturbed, whatever the others did.
SHARE = 0.10
#: Nor is one that waited for less than this many times what its process waits at best: its own threads' part of it.
FACTOR = 3.0
BEST = 0.1
#: Turns to repeat at most, as a share of those planned.
MOST_REPEATS = 0.5


def waiting_shares(record: Record) -> dict[int, float]:
    """Return for each turn the share of its time that a thread spent waiting for somebody else, on average.

    While others have the processors, a process cannot use them: no more counts than what it left unused.
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

    A turn that one process lost is lost for all, as a pair needs both. ``foreign`` names turns in which somebody else
    was seen on the device.
    """
    waited: dict[int, list[str]] = {}
    there = [(record, shares) for record in records if (shares := waiting_shares(record))]
    for record, shares in there:
        limit = max(SHARE, FACTOR * float(np.quantile(list(shares.values()), BEST)))
        for turn, share in shares.items():
            if share > limit:
                waited.setdefault(turn, []).append(f"{record.cell.column} waited {share:.0%} of it for a processor")
    several = any(record.cell.threads > 1 for record, _ in there)
    found = {turn: [reason] for turn, reason in foreign.items()}
    for turn, reasons in waited.items():
        witnesses = sum(turn in shares for _, shares in there)
        if not several or 2 * len(reasons) > witnesses:
            found.setdefault(turn, []).extend(reasons)
    return {turn: "; ".join(reasons) for turn, reasons in sorted(found.items())}


def left_out(record: Record) -> set[int]:
    """Return the turns that statistics leave out: the disturbed ones, unless fewer than half would remain.

    All processes of a sitting have the same ones, so pairs stay pairs; the record keeps their samples.
    """
    turns = set(record.sample_turn)
    disturbed = turns & {int(turn) for turn in record.disturbed}
    return disturbed if 2 * len(disturbed) <= len(turns) else set()


def repeats(disturbed: Sequence[int], planned: int) -> int:
    """Say how many turns to take again."""
    return min(len(disturbed), int(planned * MOST_REPEATS))
