"""Combines the peaks that the frameworks of a run measured, and finds records that are faster than the machine.

A cell that exceeds the best of them did not do its work: its samples are an error, not a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.cell import of_products
from bench.record import OK, Record

from ..statistics import roofline

#: The setting "float32 matmul" of full precision; precisions whose names differ there from those of cells.
FULL = "highest"
SHORT = {"bf16": "bfloat16"}


@dataclass(frozen=True)
class Peak:
    """The best that was measured on one device in one precision."""

    flops_per_s: float | None
    #: (working set in bytes, bytes read and written per second)
    bandwidths: tuple[tuple[float, float], ...]

    def of(self, devices: int) -> Peak:
        """Return the peak of several such devices, which divide the work."""
        rates = tuple((size * devices, rate * devices) for size, rate in self.bandwidths)
        return Peak(self.flops_per_s * devices if self.flops_per_s else None, rates)


def combine(measured: Mapping[str, Mapping[str, Any]], device: str, precision: str, threads: int | None = None) -> Peak:
    """Return the best of all frameworks on a device with so many threads, or with any number of them.

    The keys of ``measured`` begin with ``environment/device``.
    """
    here = [
        values
        for key, values in measured.items()
        if key.split("/")[1] == device and (threads is None or values.get("threads", threads) == threads)
    ]
    flops = [values.get("flops_per_s", {}).get(each) for values in here for each in of_products(precision)]
    curves: dict[float, float] = {}
    for values in here:
        for size, rate in values.get("bandwidths", ()):
            curves[size] = max(rate, curves.get(size, 0.0))
    return Peak(max((value for value in flops if value), default=None), tuple(sorted(curves.items())))


def computed_in(record: Record) -> str:
    """Return the precision of a record's products: the cell's, or the shorter one that its mode has."""
    matmul = str(record.settings.get("float32 matmul", FULL))
    return record.cell.precision if record.cell.precision != "float32" or matmul == FULL else SHORT.get(matmul, matmul)


def gpus(record: Record) -> int:
    """Return how many GPUs computed a step; a processor's peaks are those of all its logical devices."""
    devices = record.settings.get("devices", 1)
    return devices if record.cell.device != "cpu" and isinstance(devices, int) else 1


def implausible(record: Record, measured: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return why the samples of a record cannot be true; None where they can, or the peak is unknown."""
    if record.status != OK or not record.sample_ns or not record.work:
        return None
    # A peak of more threads bounds a cell of fewer, whose own may not have been measured.
    peak = combine(measured, record.cell.device, computed_in(record)).of(gpus(record))
    step_s = float(np.median(np.divide(record.sample_ns, record.sample_steps))) / 1e9
    return roofline.implausible(
        step_s,
        record.work["useful_flops"],
        record.work["compulsory_bytes"],
        peak.flops_per_s,
        peak.bandwidths,
        flops_divisor=record.work.get("flops_divisor", 1.0),
    )
