"""Knows when a turn was disturbed from outside, so that it can be marked and repeated.

The sign is the time in which a process was ready to compute and had to wait for a processor: its own threads, spinning
or too many, give every turn the same share of it, a foreign load gives it to some. What a sample *took* is never asked,
since leaving out slow samples would be choosing the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from bench.record import Record

#: A turn that waited for less than this share of its time is not disturbed, whatever the others did.
SHARE = 0.10
#: Nor is one that waited for less than this many times what its process waits at best: its own threads' part of it.
FACTOR = 3.0
BEST = 0.1
#: A sample cannot have waited for nearly all of its time.
LEAST_SHARE = 0.05
#: Turns to repeat at most, as a share of those planned.
MOST_REPEATS = 0.5


def waiting_shares(record: Record) -> dict[int, float]:
    """Return for each turn the share of its time that a thread spent waiting for a processor, on average."""
    waited: dict[int, int] = {}
    lasted: dict[int, int] = {}
    for turn, wait_ns, sample_ns in zip(record.sample_turn, record.sample_wait_ns, record.sample_ns, strict=False):
        waited[turn] = waited.get(turn, 0) + wait_ns
        lasted[turn] = lasted.get(turn, 0) + sample_ns
    return {turn: waited[turn] / (lasted[turn] * record.cell.threads) for turn in waited if lasted[turn]}


def disturbed_turns(records: Iterable[Record], foreign: Mapping[int, str]) -> dict[int, str]:
    """Return the disturbed turns of processes that took turns with each other, and what disturbed them.

    A turn that one process lost is lost for all, as a pair needs both. ``foreign`` names turns in which somebody else
    was seen on the device.
    """
    found: dict[int, list[str]] = {turn: [reason] for turn, reason in foreign.items()}
    for record in records:
        shares = waiting_shares(record)
        limit = max(SHARE, FACTOR * float(np.quantile(list(shares.values()), BEST))) if shares else SHARE
        for turn, share in shares.items():
            if share > limit:
                found.setdefault(turn, []).append(f"{record.cell.column} waited {share:.0%} of it for a processor")
    return {turn: "; ".join(reasons) for turn, reasons in sorted(found.items())}


def left_out(record: Record) -> set[int]:
    """Return the turns that statistics leave out: the disturbed ones, unless fewer than half would remain.

    All processes of a sitting have the same ones, so pairs stay pairs; the record keeps their samples.
    """
    turns = set(record.sample_turn)
    disturbed = turns & {int(turn) for turn in record.disturbed}
    return disturbed if 2 * len(disturbed) <= len(turns) else set()


def compared_ns(record: Record) -> npt.NDArray[np.float64]:
    """Return the nanoseconds of each sample by which a cell is compared with another.

    Where one thread computes, every nanosecond that it waited for a processor was added to the sample, and belongs to
    whoever had the processor: it is subtracted. It matters under a load that comes and goes; beside processes that
    compute without a pause the spread of a pair becomes smaller by up to a third (nox -s benchmarks -- waiting), and on
    a quiet machine there is nothing to subtract. What
    several threads waited may have passed while another went on computing, so their samples are compared as they are.
    What is published of a cell is always the whole time.
    """
    sample_ns = np.array(record.sample_ns, dtype=np.float64)
    wait_ns = np.array(record.sample_wait_ns, dtype=np.float64)
    if record.cell.threads != 1 or record.cell.device != "cpu" or len(wait_ns) != len(sample_ns):
        return sample_ns
    # A background thread of the framework may have waited beside the one that computes.
    return np.asarray(np.maximum(sample_ns - wait_ns, LEAST_SHARE * sample_ns))


def repeats(disturbed: Sequence[int], planned: int) -> int:
    """Say how many turns to take again."""
    return min(len(disturbed), int(planned * MOST_REPEATS))
