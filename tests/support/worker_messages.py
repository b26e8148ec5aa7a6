"""Good messages of a worker, and a worker that has sent some lines, which attacks change."""

from __future__ import annotations

from pathlib import Path

from bench.cell import Cell
from bench.host.workers.protocol import Ended

CELL = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
TURN = {"event": "turn", "sample_steps": [4], "sample_ns": [10_000], "sample_cpu_ns": [9_000], "sample_wait_ns": [0]}
GOOD = {
    "imported": {"event": "imported", "import_s": 0.1, "versions": {"python": "3.11.7"}},
    "prepared": {
        "event": "prepared",
        "first_call_s": 0.1,
        "keeps_code": True,
        "check": {"out": {"error": 1e-9, "allowed": 1e-6}},
        "work": {"useful_flops": 1.0, "compulsory_bytes": 1.0, "flops_divisor": 1.0, "items": 1, "item": "step"},
        "data": None,
    },
    "calibrated": {"event": "calibrated", "warmup_ns": [1, 2]},
    "turn": TURN,
    "finished": {"event": "finished", "memory": {"peak_bytes": 7}, "settings": {"threads": 1}, "compilation": {}},
    "stage": {"event": "stage", "stage": "build"},
    "ended": {"event": "ended", "status": "failed", "stage": "build", "reason": "so"},
}


class Line:
    """A worker that has sent some lines."""

    stage = "start"
    log = Path("/nowhere")

    def __init__(self, *lines: bytes) -> None:
        self._lines = list(lines)
        self.killed = False

    def line(self, deadline: float) -> bytes:
        return self._lines.pop(0) if self._lines else b""

    def find_end(self) -> Ended:
        return Ended("failed", self.stage, "the end")

    def close(self) -> None: ...

    def kill(self) -> None:
        self.killed = True
