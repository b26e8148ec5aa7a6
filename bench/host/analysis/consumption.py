"""Summarises what the processes of a cell needed: memory and energy."""

from __future__ import annotations

from collections.abc import Sequence

from bench.record import Record

from .medians import median


def counted(records: Sequence[Record], name: str) -> list[Record]:
    """Return the records of whose memory a figure counts.

    On a GPU, processes that compiled with a cold cache count only where there are no others: compilers try kernels
    there, and their memory cannot be told from that of the steps.
    """
    known = [record for record in records if record.memory.get(name) is not None]
    warm = [record for record in known if record.cell.device != "gpu" or record.first_call_cache != "cold"]
    return warm or known


def memory_bytes(records: Sequence[Record], name: str) -> float | None:
    """Return the median over processes of one of the memory figures of their records."""
    return median(record.memory[name] for record in counted(records, name))


def joules(records: Sequence[Record], *, net: bool) -> float | None:
    """Return the energy of one step by the device's counter, median over processes.

    ``net`` leaves out what the device takes at rest.
    """
    measured = [record.energy for record in records if record.energy]
    if not measured:
        return None
    return median(
        (one["watts"] - (one["idle_watts"] if net else 0.0)) * one["seconds"] / one["steps"]
        for one in measured
        if not net or one["idle_watts"] is not None
    )
