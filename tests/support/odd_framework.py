"""Makes a source with the framework ``odd``, which is NumPy until one of its modes goes wrong in its own way."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.host.executors.job import InstalledEnvironment, RowJob, RowRound

CELL = Cell("odd", "odd", "plain", "gemm", "check", "float32", "cpu", 1)

FACTS = """
from bench.frameworks.facts import Facts, Mode
MODES = ("plain", "crash", "hang", "leave", "noisy", "memory")
FACTS = Facts("Odd", "odd", "odd", (*map(Mode, MODES), Mode("slow", preloads=("{module}",)),
    Mode("header", precompiles="header"), Mode("same", precompiles="header"),
    Mode("headless", precompiles="nothing")){more})
"""

#: Lines of an adapter after which its workers' clock of seconds stands still, except where it is advanced: what a
#: worker says of its import and first call is then the same on a busy machine.
STANDING_CLOCK = """
began, passed_s = time.perf_counter(), [0.0]
time.perf_counter = lambda: began + passed_s[0]
time.advance = lambda seconds: passed_s.append(passed_s.pop() + seconds)
"""

ADAPTER = """
import os, signal, subprocess, sys, time
from bench.frameworks.numpy import adapter as numpy
{at_import}

class Adapter(numpy.Adapter):
    def __init__(self, mode, device, precision, threads):
        super().__init__("eager", device, precision, threads)
        self._odd = mode

    def warm(self):
        if self._odd == "headless":
            raise RuntimeError("there is no compiler")
        print("warmed", flush=True)

    def transform(self, function, **given):
        if self._odd == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self._odd == "hang":
            time.sleep(1000)
        if self._odd == "leave":
            print("left", subprocess.Popen(["sleep", "1000"]).pid, flush=True)
        if self._odd == "noisy":
            print("from python", flush=True)
            os.write(2, b"from the descriptor\\n")
            sys.stdout.write("x" * 300000 + "\\n")
        if self._odd == "memory":
            raise MemoryError("out of memory")
        return function
"""


def make(folder: Path, *, at_import: str = "", more: str = "", module: str = "colorsys") -> dict[str, str]:
    """Write the source; ``at_import`` are lines of its adapter, ``more`` further facts; return {name: folder}."""
    framework, workload = folder / "frameworks" / "odd", folder / "workloads" / "gemm"
    framework.mkdir(parents=True)
    workload.mkdir(parents=True)
    (framework / "facts.py").write_text(FACTS.format(module=module, more=more))
    (framework / "adapter.py").write_text(ADAPTER.format(at_import=at_import))
    (workload / "odd.py").write_text("from bench.workloads.gemm.numpy import build\n")
    return {"odd": str(folder)}


def cell(mode: str) -> Cell:
    return replace(CELL, mode=mode)


def job(sources: dict[str, str], cell: Cell = CELL, **values: Any) -> RowJob:
    """Return a job that measures a cell once, on one thread."""
    given: dict[str, Any] = {
        "run": "r1",
        "row_round": RowRound(0, cell.row, (cell,), 1, (0,)),
        "environments": {"odd": InstalledEnvironment((sys.executable,))},
        "threads": 1,
        "samples": 1,
        "sample_seconds": 0.001,
        "timeout_s": 60.0,
        "data_seed": 1,
        "order_seed": 2,
        "sources": sources,
    }
    return RowJob(**{**given, **values})
