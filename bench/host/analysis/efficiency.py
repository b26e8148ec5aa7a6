"""Computes how much of the machine's peak rates a cell achieved."""

from __future__ import annotations

from ..statistics.roofline import Achieved, achieved
from ..storage.manifest import Manifest
from .peaks import Peak, combine, computed_in, gpus
from .results import Result


def peak_of(result: Result, manifest: Manifest) -> Peak:
    """Return the peak of as many threads or GPUs as the cell has, in the precision of its products."""
    if not result.records:
        return combine(manifest.peaks, result.cell.device, result.cell.precision, result.cell.threads)
    first = result.records[0]
    return combine(manifest.peaks, result.cell.device, computed_in(first), result.cell.threads).of(gpus(first))


def achieved_by(result: Result, manifest: Manifest) -> Achieved | None:
    """Return the rates of a cell and their shares of the peak; None where its work or its time is unknown."""
    flops, moved = result.work.get("useful_flops"), result.work.get("compulsory_bytes")
    if result.step is None or flops is None or moved is None:
        return None
    peak = peak_of(result, manifest)
    return achieved(result.step.value, flops, moved, peak.flops_per_s, peak.bandwidths)
