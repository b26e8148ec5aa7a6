"""Knows the CSV file: one row per cell, every field, plain numbers in SI units (seconds, bytes, items per second)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from typing import Any

from bench.record import OK

from ..statistics.bootstrap import Estimate
from .footnotes import unsteady_notes
from .results import Result, median

Value = str | float | int | None

#: A spreadsheet takes text that begins with one of these for a formula (OWASP, "CSV Injection").
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")


def quote(value: Value) -> str | float | int:
    """Return what is written: numbers as they are, text so that no spreadsheet computes it."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    # A lone surrogate, which JSON can carry, is no text that a file could hold.
    text = value.encode("utf-8", "replace").decode("utf-8")
    # The writer leaves a carriage return unquoted, and a reader takes it for the end of the row.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(FORMULA) else text


def _bounds(name: str, unit: str, get: Callable[[Result], Estimate | None]) -> dict[str, Callable[[Result], Value]]:
    def part(attribute: str) -> Callable[[Result], Value]:
        return lambda result: getattr(get(result), attribute, None)

    return {f"{name}{unit}": part("value"), f"{name}_low{unit}": part("low"), f"{name}_high{unit}": part("high")}


def _last(result: Result, attribute: str) -> Any:
    """Return the last non-empty value that the records have."""
    return next((value for record in reversed(result.records) if (value := getattr(record, attribute))), None)


def _json(result: Result, attribute: str) -> str | None:
    value = _last(result, attribute)
    return json.dumps(value, sort_keys=True) if value else None


def _import_s(*, alone: bool) -> Callable[[Result], Value]:
    def get(result: Result) -> Value:
        kept = (record for record in result.records if record.import_alone == alone)
        return median(record.import_s for record in kept if record.import_s is not None)

    return get


def _memory(name: str) -> Callable[[Result], Value]:
    return lambda result: result.memory_bytes(name)


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
    "processes_timed": lambda r: len(r.locations),
    "samples": lambda r: sum(r.samples),
    "steps_per_sample": lambda r: median(step for record in r.records for step in record.sample_steps),
    **_bounds("step", "_s", lambda r: r.step),
    "step_q10_s": lambda r: median(location.q10 for location in r.locations),
    "spread_between": lambda r: r.spread_between,
    "spread_within": lambda r: r.spread_within,
    "cpu_per_wall": lambda r: r.cpu_per_wall,
    "unsteady": lambda r: next(iter(unsteady_notes(r)), None),
    "item": lambda r: r.work.get("item"),
    "items": lambda r: r.work.get("items"),
    **_bounds("throughput", "_per_s", lambda r: r.throughput),
    **_bounds("ratio", "", lambda r: r.ratio.estimate if r.ratio else None),
    "baseline_unsteady": lambda r: str(r.baseline_unsteady).lower() if r.ratio else None,
    "pairs": lambda r: r.ratio.estimate.n if r.ratio else None,
    "p": lambda r: r.ratio.p if r.ratio else None,
    "adjusted_p": lambda r: r.adjusted_p,
    "verdict": lambda r: r.verdict.value if r.verdict else None,
    # Imports that had the processors for themselves, and those of a group that shared them, which take longer.
    "import_alone_s": _import_s(alone=True),
    "import_shared_s": _import_s(alone=False),
    "first_call_cold_s": lambda r: r.first_call_s("cold"),
    "first_call_warm_s": lambda r: r.first_call_s("warm"),
    "baseline_bytes": _memory("baseline_bytes"),
    "peak_bytes": _memory("peak_bytes"),
    "first_call_peak_bytes": _memory("first_call_peak_bytes"),
    "allocated_peak_bytes": _memory("allocated_peak_bytes"),
    "reserved_peak_bytes": _memory("reserved_peak_bytes"),
    "useful_flops": lambda r: r.work.get("useful_flops"),
    "compulsory_bytes": lambda r: r.work.get("compulsory_bytes"),
    "data": lambda r: _last(r, "data"),
    "check": lambda r: _json(r, "check"),
    "settings": lambda r: _json(r, "settings"),
    "versions": lambda r: _json(r, "versions"),
}


def render(results: Iterable[Result]) -> str:
    """Write the results with a heading; missing values are empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(FIELDS)
    for result in results:
        writer.writerow([quote(get(result)) for get in FIELDS.values()])
    return file.getvalue()
