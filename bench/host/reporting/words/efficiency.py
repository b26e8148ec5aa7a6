"""Writes rates, their shares of the machine's peaks, and what the peaks are."""

from __future__ import annotations

from collections.abc import Iterable

from ...analysis.efficiency import peak_of
from ...analysis.results import Result
from ...storage.manifest import Manifest
from .language import _
from .numbers import COUNTS, choose_unit, format_number, percent
from .row_names import threads_in_words
from .text import EMPTY, shorten

#: Characters of a reason.
LENGTH = 100


def format_rate(rate: float | None, share: float | None, size: float) -> str:
    """Write a rate in a unit of ``size`` with its share of the peak: ``45.2 (31%)``."""
    if rate is None:
        return EMPTY
    text = format_number(rate / size)
    if share is None:
        return text
    return f"{text} ({'<1%' if share < 0.01 else percent(share)})"


def efficiency_remark(results: Iterable[Result], manifest: Manifest) -> str:
    """Write what the rates are rates of, and what they are a share of."""
    shown = [result for result in results if result.achieved is not None]
    if not shown:
        return ""
    text = _("FLOP/s and bytes/s: useful operations and compulsory bytes of a step over its time.")
    peaks = _peaks(shown, manifest)
    if not peaks:
        return f"{text} {_('The peaks of the machine were not measured.')}"
    shares = _(
        "In parentheses: their share of the best rates in this run, of matrix products and of copies of the same size "
        "({peaks}). A fast algorithm can exceed 100%.",
        peaks="; ".join(peaks),
    )
    return f"{text} {shares} {_unmeasured(manifest)}".rstrip()


def _peaks(results: Iterable[Result], manifest: Manifest) -> list[str]:
    found, shown = {}, list(results)
    several = len({result.cell.threads for result in shown}) > 1
    # One of each kind: a study has thousands of cells with the same peaks.
    for result in {(r.cell.device, r.cell.precision, r.cell.threads): r for r in shown}.values():
        peak, precision, threads = peak_of(result, manifest), result.cell.precision, result.cell.threads
        device = f"{result.cell.device}, {threads_in_words(threads)}" if several else result.cell.device
        if peak.flops_per_s:
            rate = _rate(peak.flops_per_s, "FLOP/s")
            found[device, precision] = _(
                "{rate} in {precision} on {device}", rate=rate, precision=precision, device=device
            )
        if peak.bandwidths:
            size, last = peak.bandwidths[-1]
            found[device, ""] = _(
                "{best} at most and {last} with {size} on {device}",
                best=_rate(max(rate for _size, rate in peak.bandwidths), "B/s"),
                last=_rate(last, "B/s"),
                size=_rate(size, "B"),
                device=device,
            )
    return list(found.values())


def _unmeasured(manifest: Manifest) -> str:
    """Write which peaks a framework did not measure, and why; shares are of what the others measured."""
    clauses = []
    for key, values in manifest.peaks.items():
        environment = key.split("/")[0]
        reasons = {_("peaks"): values["reason"]} if "reason" in values else values.get("reasons", {})
        clauses += [
            _(
                "{peak} with {environment} ({reason})",
                peak=what,
                environment=environment,
                reason=shorten(str(reason), LENGTH),
            )
            for what, reason in reasons.items()
        ]
    return _("Not measured: {peaks}.", peaks="; ".join(clauses)) if clauses else ""


def _rate(value: float, unit: str) -> str:
    scale = choose_unit([value], COUNTS)
    number = format_number(value / scale.size)
    return f"{number}·{scale.name} {unit}" if scale.name else f"{number} {unit}"
