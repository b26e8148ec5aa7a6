"""Writes ``details.csv``: one row per cell, the twin's too, in SI units (seconds, bytes, per second) and English."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.record import OK

from ...analysis.compilation import break_reasons, most, recompilations
from ...analysis.medians import median
from ...analysis.notes import Note
from ...analysis.result_notes import large_spread
from ...analysis.results import Comparison, Result
from ...statistics.bootstrap import Estimate
from ..renderers import csv
from ..renderers.csv import Value
from ..words.language import ENGLISH, writing_in
from ..words.notes import in_words
from ..words.result_notes import differences_in_words
from .output import write_text

if TYPE_CHECKING:
    from ..report import Report

NAME = "details.csv"
#: Kept, as ``json.dumps`` makes one for every call that sorts.
_ENCODER = json.JSONEncoder(sort_keys=True)


def _bounds(name: str, unit: str, get: Callable[[Result], Estimate | None]) -> dict[str, Callable[[Result], Value]]:
    ends = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
    return {f"{field}{unit}": _optional(get, attribute) for field, attribute in ends.items()}


def _last(result: Result, attribute: str) -> Any:
    """Return the last non-empty value that the records have."""
    return next((value for record in reversed(result.records) if (value := getattr(record, attribute))), None)


def _json(result: Result, attribute: str) -> str | None:
    value = _last(result, attribute)
    return _ENCODER.encode(value) if value else None


def _comparison(prefix: str, get: Callable[[Result], Comparison | None]) -> dict[str, Callable[[Result], Value]]:
    """Return the fields of a comparison, of the medians or of the tails."""

    def value(of: Callable[[Comparison], Value]) -> Callable[[Result], Value]:
        return lambda result: None if (found := get(result)) is None else of(found)

    def deciding(end: int) -> Callable[[Result], Value]:
        return value(lambda found: found.ratio.deciding[end] if found.ratio.deciding else None)

    return {
        f"{prefix}ratio": value(lambda found: found.ratio.estimate.value),
        f"{prefix}deciding_low": deciding(0),
        f"{prefix}deciding_high": deciding(1),
        f"{prefix}p": value(lambda found: found.ratio.p),
        f"{prefix}adjusted_p": value(lambda found: found.adjusted_p),
        f"{prefix}claim_p": value(lambda found: found.claim_p),
        f"{prefix}verdict": value(lambda found: found.verdict.value if found.verdict else None),
    }


def _optional(get: Callable[[Result], Any], attribute: str) -> Callable[[Result], Value]:
    """Return a field of what a result may lack."""
    return lambda result: getattr(get(result), attribute, None)


def _count(name: str) -> Callable[[Result], Value]:
    return lambda result: most(result.records, name) if any(name in r.compilation for r in result.records) else None


def _batch(name: str) -> Callable[[Result], Value]:
    return lambda result: (result.largest_batch or {}).get(name)


def _steps(result: Result) -> list[list[int]]:
    return [record.sample_steps for record in result.records if record.sample_steps]


def _frequency(name: str, which: Callable[[list[float]], float]) -> Callable[[Result], Value]:
    """Return the lowest or highest frequency that records have by this name; None where it was not read."""

    def of(result: Result) -> Value:
        seen = [mhz for record in result.records for mhz in getattr(record, name)]
        return which(seen) if seen else None

    return of


def _limits(result: Result) -> str | None:
    """Name what limited the clock of the GPU, and in how many samples."""
    found: dict[str, int] = {}
    for record in result.records:
        for limit, count in record.gpu_clock_limits.items():
            found[limit] = found.get(limit, 0) + count
    return "; ".join(f"{limit}: {count}" for limit, count in found.items()) or None


def _memory(name: str) -> Callable[[Result], Value]:
    return lambda result: result.memory_bytes(name)


def _worded(note: Note | None) -> str | None:
    return None if note is None else in_words([note])[0]


FIELDS: dict[str, Callable[[Result], Value]] = {
    "run": lambda r: _last(r, "run"),
    "environment": lambda r: r.cell.environment,
    "framework": lambda r: r.cell.framework,
    "mode": lambda r: r.cell.mode,
    "workload": lambda r: r.cell.workload,
    "size": lambda r: r.cell.size,
    "precision": lambda r: r.cell.precision,
    "device": lambda r: r.cell.device,
    "threads": lambda r: r.cell.threads,
    "status": lambda r: r.status,
    "stage": lambda r: r.stage,
    "reason": lambda r: r.reason,
    "processes": lambda r: len(r.records),
    "processes_ok": lambda r: sum(record.status == OK for record in r.records),
    "processes_timed": lambda r: len(r.timed),
    "rounds": _optional(lambda r: r.stop, "rounds"),
    "stopped": _optional(lambda r: r.stop, "why"),
    "samples": lambda r: sum(r.samples),
    "steps_per_sample": lambda r: median(chain.from_iterable(_steps(r))),
    **_bounds("step", "_s", lambda r: r.step),
    "step_q10_s": lambda r: median(location.q10 for location in r.locations),
    # Where each sample is a single step.
    "latency_p50_s": _optional(lambda r: r.latency, "p50_s"),
    "latency_p99_s": _optional(lambda r: r.latency, "p99_s"),
    "spread_between": lambda r: r.spread_between,
    "spread_within": lambda r: r.spread_within,
    "cpu_s": lambda r: r.cpu_s,
    "cpu_per_wall": lambda r: r.cpu_per_wall,
    "large_spread": lambda r: _worded(large_spread(r)),
    "warm_up": lambda r: r.warm_up.commonest.value if r.warm_up else None,
    "warm_up_agreeing": _optional(lambda r: r.warm_up, "agreeing"),
    "early_samples": _optional(lambda r: r.warm_up, "early"),
    "whole_step_s": _optional(lambda r: r.warm_up, "whole_s"),
    "turns": lambda r: r.disturbances.turns,
    "disturbed_turns": lambda r: r.disturbances.disturbed,
    "left_out_turns": lambda r: r.disturbances.left_out,
    "repeated_turns": lambda r: r.disturbances.repeated,
    # Processors' worth of time that others had at least.
    "other_load": lambda r: max((one.other_load for one in r.records if one.other_load is not None), default=None),
    "lowest_mhz": _frequency("frequency_mhz", min),
    "highest_mhz": _frequency("frequency_mhz", max),
    "gpu_lowest_mhz": _frequency("gpu_frequency_mhz", min),
    "gpu_highest_mhz": _frequency("gpu_frequency_mhz", max),
    "gpu_clock_limits": _limits,
    "item": lambda r: r.work.get("item"),
    "items": lambda r: r.work.get("items"),
    **_bounds("throughput", "_per_s", lambda r: r.throughput),
    "pairs": lambda r: r.ratio.estimate.n if r.ratio else None,
    **_bounds("ratio", "", lambda r: r.ratio.estimate if r.ratio else None),
    **_comparison("", lambda r: r.comparison),
    # Of the 90% quantiles.
    **_comparison("tail_", lambda r: r.tail),
    "baseline_irregular": lambda r: str(r.baseline_irregular).lower() if r.ratio else None,
    "refused": lambda r: differences_in_words(r.refused) or None,
    "noise_floor": lambda r: r.noise_floor,
    # Imports that had the processors for themselves, and those of a group that shared them, which take longer.
    "import_alone_s": lambda r: r.import_s(alone=True),
    "import_shared_s": lambda r: r.import_s(alone=False),
    "first_call_cold_s": lambda r: r.first_call_s("cold"),
    "first_call_warm_s": lambda r: r.first_call_s("warm"),
    # "inf" is never.
    "break_even_steps": lambda r: r.break_even,
    "compiled": lambda r: (_last(r, "compilation") or {}).get("compiled"),
    "graphs": _count("graphs"),
    "graph_breaks": _count("graph_breaks"),
    "graph_break_reasons": lambda r: json.dumps(found) if (found := break_reasons(r.records)) else None,
    "traces": _count("traces"),
    "recompiled_while_timing": lambda r: recompilations(r.records) if r.timed else None,
    "baseline_bytes": _memory("baseline_bytes"),
    "peak_bytes": _memory("peak_bytes"),
    "first_call_peak_bytes": _memory("first_call_peak_bytes"),
    "allocated_peak_bytes": _memory("allocated_peak_bytes"),
    "reserved_peak_bytes": _memory("reserved_peak_bytes"),
    "nvml_peak_bytes": _memory("nvml_peak_bytes"),
    "joules": lambda r: r.joules(net=False),
    "net_joules": lambda r: r.joules(net=True),
    "largest_batch_items": _batch("items"),
    "largest_batch_cap_bytes": _batch("cap_bytes"),
    "largest_batch_status": _batch("status"),
    "largest_batch_reason": _batch("reason"),
    "useful_flops": lambda r: r.work.get("useful_flops"),
    "compulsory_bytes": lambda r: r.work.get("compulsory_bytes"),
    "flops_per_s": _optional(lambda r: r.achieved, "flops_per_s"),
    "flops_share": _optional(lambda r: r.achieved, "flops_share"),
    "bytes_per_s": _optional(lambda r: r.achieved, "bytes_per_s"),
    "bytes_share": _optional(lambda r: r.achieved, "bytes_share"),
    "data": lambda r: _last(r, "data"),
    "check": lambda r: _json(r, "check"),
    "settings": lambda r: _json(r, "settings"),
    "versions": lambda r: _json(r, "versions"),
}


def write(report: Report, folder: Path) -> list[Path]:
    # Programs read it: its words do not follow the language of the report.
    with writing_in(ENGLISH):
        text = csv.render(FIELDS, (*report.analysis.results, *report.analysis.twins))
    return write_text(folder / NAME, text)
