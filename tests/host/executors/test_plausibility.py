"""Tests which peaks are measured again where several cells of a row were faster than the machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bench.cell import Cell
from bench.host.executors import plausibility
from bench.record import OK, Record

EAGER = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
WORK = {"useful_flops": 1e6, "compulsory_bytes": 0.0}


@dataclass
class Process:
    """A cell that took a millisecond for a million operations."""

    cell: Cell
    computes_in: str
    failed: str | None = None

    @property
    def name(self) -> str:
        return self.cell.name

    @property
    def record(self) -> Record:
        settings = {"float32 matmul": self.computes_in}
        samples: dict[str, Any] = {"sample_ns": [1_000_000], "sample_steps": [1], "sample_turn": [0]}
        return Record(self.cell, 0, 0, OK, work=WORK, settings=settings, **samples)

    def note_implausible(self, reason: str) -> None:
        self.failed = reason


def test_the_peaks_of_every_precision_that_is_doubted_are_measured_again():
    full, short = Process(EAGER, "highest"), Process(replace(EAGER, mode="autocast"), "bfloat16")
    slow = {"threads": 2, "flops_per_s": {"float32": 1e6, "bfloat16": 1e6}, "bandwidths": []}
    asked = []

    def measure(cell, precisions):
        asked.append(list(precisions))
        return {"flops_per_s": dict.fromkeys(precisions, 1e12), "bandwidths": [], "reasons": {}}

    plausibility.judge([full, short], {"torch2/cpu": slow}, measure, lambda event: None)
    assert asked == [["float32", "bfloat16"]]
    assert (full.failed, short.failed) == (None, None)
