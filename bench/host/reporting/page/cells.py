"""Writes each cell of the page as one short list of values, so that 10,000 cells stay within a few megabytes."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...analysis.notes import Note
from ...analysis.processes import TimedProcess
from ...analysis.result_notes import notes_on_status, notes_on_step
from ...analysis.results import Result
from ...analysis.startup import import_s
from ...statistics.bootstrap import Estimate
from ..words.notes import in_words
from ..words.terms import format_warm_up

#: The values of a cell, in order. Times are in nanoseconds; texts and facts are numbers of entries in the pools.
#: "common" is the time with which it counts in a profile, 0 for a failure; none where it does not count.
FIELDS = (
    "row", "column", "status", "stage", "reason", "log", "grade", "verdict",
    "step", "stepLow", "stepHigh", "ratio", "ratioLow", "ratioHigh",
    "processes", "samples", "warmUp", "firstCold", "firstWarm", "import", "peak",
    "cpu", "processorsUsed", "p50", "p99", "common",
    "facts", "notes", "ratioNotes", "lowest", "highest", "series",
)  # fmt: skip
#: Points of a process's samples in its picture at most, and of all pictures together about.
POINTS, ALL_POINTS = 100, 1_000_000
#: A picture of fewer points of a process shows nothing: rather fewer processes are shown.
FEWEST_POINTS = 10
#: A point is two of these characters: its height between the lowest and the highest, in 4096 steps.
DIGITS = string.ascii_letters + string.digits + "-_"
PAIRS = [first + second for first in DIGITS for second in DIGITS]
LEVELS = len(PAIRS) - 1


class Pool:
    """Numbers values, equal ones with the same number, so that the page holds each once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Hashable, int] = {}

    def number(self, value: Any) -> int:
        key = value if isinstance(value, str) else (json.dumps(value),)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


def short(value: float | None, scale: float = 1.0) -> float | int | None:
    """Return ``value * scale`` with six digits; None for what JSON cannot hold."""
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value * scale:.6g}")
    return int(rounded) if rounded.is_integer() else rounded


def write(
    result: Result,
    ratio_notes: Sequence[Note],
    row: int,
    column: int,
    texts: Pool,
    facts: Pool,
    share: int,
    log: str | None = None,
    common_s: float | None = None,
) -> list[Any]:
    """Return the values of one cell, those of ``FIELDS``; the last ones are left out where they are empty.

    ``ratio_notes`` stand apart from the others, as they hold with the baseline of the report only.
    ``share`` is the number of points that its picture may have, ``log`` the end of a worker's log, ``common_s`` what
    ``analysis.profiles.common_steps`` has of it.
    """
    grade, warm_up, latency = result.quality, result.warm_up, result.latency
    ratio = result.ratio.estimate if result.ratio else None
    notes = [*notes_on_status(result), *notes_on_step(result)]
    lowest, highest, series = picture(result.timed, share)
    values = [
        row,
        column,
        texts.number(result.status),
        None if result.stage is None else texts.number(result.stage),
        None if result.reason is None else texts.number(result.reason),
        None if log is None else texts.number(log),
        None if grade is None else texts.number(grade.value),
        None if result.verdict is None else texts.number(result.verdict.value),
        *_bounds(result.step, 1e9),
        *_bounds(ratio, 1.0),
        len(result.timed) or None,
        sum(result.samples) or None,
        texts.number(format_warm_up(warm_up)) if warm_up else None,
        short(result.first_call_s("cold"), 1e9),
        short(result.first_call_s("warm"), 1e9),
        short(import_s(result), 1e9),
        short(result.peak_bytes),
        short(result.cpu_s, 1e9),
        short(result.cpu_per_wall),
        short(latency.p50_s, 1e9) if latency else None,
        short(latency.p99_s, 1e9) if latency else None,
        0 if common_s == math.inf else short(common_s, 1e9),
        facts.number(_facts(result)),
        [texts.number(text) for text in in_words(notes)] or None,
        [texts.number(text) for text in in_words(ratio_notes)] or None,
        lowest,
        highest,
        series or None,
    ]
    while values[-1] is None:
        values.pop()
    return values


def _bounds(estimate: Estimate | None, scale: float) -> tuple[float | int | None, ...]:
    if estimate is None:
        return None, None, None
    return short(estimate.value, scale), short(estimate.low, scale), short(estimate.high, scale)


def _facts(result: Result) -> dict[str, Any]:
    """Return what many cells have in common: settings, versions and work, as the last record that has them says."""
    last: dict[str, dict[str, Any]] = {
        name: next((value for record in reversed(result.records) if (value := getattr(record, name))), {})
        for name in ("settings", "versions", "work")
    }
    work = last["work"]
    return {
        "settings": {name: str(value) for name, value in last["settings"].items()},
        "versions": {name: str(value) for name, value in last["versions"].items()},
        "item": work.get("item"),
        "items": work.get("items"),
        "flops": work.get("useful_flops"),
        "moved": work.get("compulsory_bytes"),
    }


def picture(processes: Sequence[TimedProcess], share: int) -> tuple[float | int | None, float | int | None, list[str]]:
    """Return the lowest and the highest step time, in nanoseconds, and the samples of each process between them.

    Of every process evenly spaced samples are kept, ``share`` at most in all.
    """
    if not processes:
        return None, None, []
    shown = processes[: max(1, share // FEWEST_POINTS)]
    each = max(1, min(POINTS, share // len(shown)))
    courses = [_thinned(process, each) for process in shown]
    every = np.concatenate(courses)
    lowest, highest = float(every.min()), float(every.max())
    levels = [np.rint((course - lowest) / ((highest - lowest) or 1.0) * LEVELS).astype(int) for course in courses]
    return short(lowest), short(highest), ["".join([PAIRS[level] for level in course.tolist()]) for course in levels]


def _thinned(process: TimedProcess, most: int) -> Any:
    step_ns = np.array(process.record.sample_ns, dtype=np.float64) / np.array(process.record.sample_steps)
    if len(step_ns) <= most:
        return step_ns
    return step_ns[np.rint(np.linspace(0, len(step_ns) - 1, most)).astype(int)]
