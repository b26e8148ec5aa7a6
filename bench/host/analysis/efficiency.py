"""Computes how much of the machine's peak rates a cell achieved."""

from __future__ import annotations

from ..statistics.roofline import Achieved, achieved
from ..storage.manifest import Manifest
from .peaks import Peak, combine, computed_in
from .results import Result


def peak_of(result: Result, manifest: Manifest) -> Peak:
    """Return the peak of as many threads as the cell has, in the precision of its products."""
    precision = computed_in(result.records[0]) if result.records else result.cell.precision
    return combine(manifest.peaks, result.cell.device, precision, result.cell.threads)


def achieved_by(result: Result, manifest: Manifest) -> Achieved | None:
    """Return the rates of a cell and their shares of the peak; None where its work or its time is unknown."""
    flops, moved = result.work.get("useful_flops"), result.work.get("compulsory_bytes")
    if result.step is None or flops is None or moved is None:
        return None
    peak = peak_of(result, manifest)
    return achieved(result.step.value, flops, moved, peak.flops_per_s, peak.bandwidths)
