"""Knows what the machine at hand can do at most, as the run's own frameworks measure it: matrix products and copies.

A cell that beats the best of them did not do its work: its samples are an error, not a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.cell import Cell
from bench.record import OK, Record

from ..statistics import roofline
from .cell_process import Talks
from .worker_process import Ended

#: The probe takes some seconds; this is for a machine in a bad moment.
TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Peak:
    """The best that was measured on one device in one precision."""

    flops_per_s: float | None
    #: (working set in bytes, bytes read and written per second)
    bandwidths: tuple[tuple[float, float], ...]


def probes(cells: Iterable[Cell]) -> list[tuple[Cell, tuple[str, ...]]]:
    """List a cell to start a worker by for each environment and device, with the precisions of its cells."""
    found: dict[tuple[str, str], tuple[Cell, dict[str, None]]] = {}
    for cell in cells:
        probe = replace(cell, workload="gemm", size="check", precision="float32")
        found.setdefault((cell.environment, cell.device), (probe, {}))[1][cell.precision] = None
    return [(cell, tuple(precisions)) for cell, precisions in found.values()]


def measure(cell: Cell, precisions: Sequence[str], start: Callable[[Cell], Talks]) -> dict[str, Any]:
    """Measure with one framework; what it cannot tell is left out, with the reason."""
    try:
        worker = start(cell)
    except Ended as ended:
        return {"reason": f"{ended.status}: {ended.reason}"}
    try:
        worker.send(do="import", cell=cell.to_json())
        worker.receive(TIMEOUT_S)
        worker.send(do="peaks", precisions=list(precisions))
        answer = worker.receive(TIMEOUT_S)
    except Ended as ended:
        return {"reason": f"{ended.status}: {ended.reason}"}
    finally:
        worker.kill()
    return {name: answer[name] for name in ("flops_per_s", "bandwidths", "reasons")}


def combine(measured: Mapping[str, Mapping[str, Any]], device: str, precision: str) -> Peak:
    """Return the best of all frameworks on a device; ``measured`` is keyed ``environment/device``."""
    here = [values for key, values in measured.items() if key.rpartition("/")[2] == device]
    flops = [values.get("flops_per_s", {}).get(precision) for values in here]
    curves: dict[float, float] = {}
    for values in here:
        for size, rate in values.get("bandwidths", ()):
            curves[size] = max(rate, curves.get(size, 0.0))
    return Peak(max((value for value in flops if value), default=None), tuple(sorted(curves.items())))


def implausible(record: Record, measured: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Say why a record's samples cannot be true: faster than the machine; None where they can, or nobody knows."""
    if record.status != OK or not record.sample_ns or not record.work:
        return None
    peak = combine(measured, record.cell.device, record.cell.precision)
    step_s = float(np.median(np.divide(record.sample_ns, record.sample_steps))) / 1e9
    return roofline.implausible(
        step_s,
        record.work["useful_flops"],
        record.work["compulsory_bytes"],
        peak.flops_per_s,
        peak.bandwidths,
        flops_divisor=record.work.get("flops_divisor", 1.0),
    )
