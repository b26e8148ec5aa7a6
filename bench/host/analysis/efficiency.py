"""Knows how much of what the machine can do a cell achieved."""

from __future__ import annotations

from collections.abc import Iterable

from ..reporting.tables.table import EMPTY, shorten
from ..reporting.words.numbers import COUNTS, choose_unit, format_number
from ..statistics.roofline import Achieved, achieved
from ..storage.manifest import Manifest
from .peaks import Peak, combine
from .results import Result

#: Characters of a reason.
LENGTH = 100


def peak_of(result: Result, manifest: Manifest) -> Peak:
    return combine(manifest.peaks, result.cell.device, result.cell.precision)


def achieved_by(result: Result, manifest: Manifest) -> Achieved | None:
    """Return the rates of a cell and their shares of the peak; None where its work or its time is unknown."""
    flops, moved = result.work.get("useful_flops"), result.work.get("compulsory_bytes")
    if result.step is None or flops is None or moved is None:
        return None
    peak = peak_of(result, manifest)
    return achieved(result.step.value, flops, moved, peak.flops_per_s, peak.bandwidths)


def format_rate(rate: float | None, share: float | None, size: float) -> str:
    """Write a rate in a unit of ``size`` with its share of the peak: ``45.2 (31%)``."""
    if rate is None:
        return EMPTY
    text = format_number(rate / size)
    if share is None:
        return text
    return f"{text} ({'<1%' if share < 0.01 else f'{share:.0%}'})"


def efficiency_remark(results: Iterable[Result], manifest: Manifest) -> str:
    """Say what the rates are rates of, and what they are a share of."""
    shown = [result for result in results if result.achieved is not None]
    if not shown:
        return ""
    text = "FLOP/s and bytes/s: useful operations and compulsory bytes of a step over its time"
    peaks = {}
    for result in shown:
        peak = peak_of(result, manifest)
        if peak.flops_per_s:
            where = f"{result.cell.precision} on {result.cell.device}"
            peaks[where] = f"{_rate(peak.flops_per_s, 'FLOP/s')} in {where}"
        if peak.bandwidths:
            best = max(rate for _, rate in peak.bandwidths)
            size, last = peak.bandwidths[-1]
            peaks[result.cell.device] = (
                f"{_rate(best, 'B/s')} at most and {_rate(last, 'B/s')} with {_rate(size, 'B')} on {result.cell.device}"
            )
    if not peaks:
        return f"{text}; the peaks of the machine were not measured."
    return (
        f"{text}, and in parentheses their share of what matrix products and copies of the same size reached in this "
        f"run ({'; '.join(peaks.values())}). A fast algorithm can exceed 100%.{_unmeasured(manifest)}"
    )


def _unmeasured(manifest: Manifest) -> str:
    """Say which peaks no framework could tell, and why: what the others measured is all that shares are taken of."""
    clauses = []
    for key, values in manifest.peaks.items():
        environment = key.rpartition("/")[0]
        reasons = {"peaks": values["reason"]} if "reason" in values else values.get("reasons", {})
        clauses += [f"{what} with {environment} ({shorten(str(reason), LENGTH)})" for what, reason in reasons.items()]
    return f" Not measured: {'; '.join(clauses)}." if clauses else ""


def _rate(value: float, unit: str) -> str:
    scale = choose_unit([value], COUNTS)
    return (
        f"{format_number(value / scale.size)}·{scale.name} {unit}" if scale.name else f"{format_number(value)} {unit}"
    )
