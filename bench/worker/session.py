"""Knows the life of a cell inside its process: import, build, first call, check, calibrate, turns, finish.

Each request is a method; each announces its stages, so that the host can say where a process died. Whatever goes
wrong becomes an ``ended`` message with a status, a stage and a reason.
"""

from __future__ import annotations

import gc
import time
from typing import Any, Dict, Optional

from .. import workloads
from ..cell import Cell
from ..frameworks import load_adapter
from ..program import Transform, Unsupported
from ..record import FAILED, MISMATCH, OUT_OF_MEMORY, UNSUPPORTED
from . import check, machine, memory
from .channel import Channel
from .measure import Stopwatch

#: How the frameworks word it when memory runs out; none has one exception for all devices.
OUT_OF_MEMORY_WORDS = (
    "out of memory",
    "resource_exhausted",
    "can't allocate memory",
    "bad_alloc",
    "cannot allocate memory",
)

#: A compiler's first line often says only that there was an error.
REASON_LINES = 2


def status_of(error: BaseException) -> str:
    """Classify what ended a cell."""
    if isinstance(error, Unsupported):
        return UNSUPPORTED
    if isinstance(error, check.Mismatch):
        return MISMATCH
    text = str(error).lower()
    if isinstance(error, MemoryError) or any(words in text for words in OUT_OF_MEMORY_WORDS):
        return OUT_OF_MEMORY
    return FAILED


def reason_of(error: BaseException) -> str:
    """Word what ended a cell in one line: the first lines of its message that say something."""
    said = " | ".join([line.strip() for line in str(error).splitlines() if line.strip()][:REASON_LINES])
    if isinstance(error, (Unsupported, check.Mismatch)):
        return said
    return "{}: {}".format(type(error).__name__, said) if said else type(error).__name__


class Session:
    """One cell in this process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.stage = "start"
        self._adapter: Any = None
        self._stopwatch: Optional[Stopwatch] = None

    def _enter(self, stage: str) -> None:
        self.stage = stage
        self._channel.send(event="stage", stage=stage)

    def do_reference(
        self, workload: str, size: str, seed: int, path: str, data: Optional[str] = None
    ) -> Dict[str, Any]:
        """Compute a workload's float64 reference and store it."""
        specification = workloads.load_specification(workload)
        check.write_reference(path, specification, specification.SIZES[size], seed, data)
        return {"event": "referenced"}

    def do_import(self, cell: Dict[str, Any], memory_limit_bytes: Optional[int] = None) -> Dict[str, Any]:
        """Import the framework and set it up for the cell."""
        self._cell = Cell.from_json(cell)
        self._enter("import")
        if memory_limit_bytes:
            memory.limit_bytes(memory_limit_bytes)
        start = time.perf_counter()
        adapter = load_adapter(self._cell.framework)
        build = workloads.load_implementation(self._cell.workload, self._cell.framework)
        import_s = time.perf_counter() - start
        self._build = build
        self._adapter = adapter.Adapter(self._cell.mode, self._cell.device, self._cell.precision, self._cell.threads)
        self._baseline_bytes = memory.resident_bytes()
        versions = machine.versions()
        versions.update(self._adapter.versions())
        return {"event": "imported", "import_s": import_s, "versions": versions}

    def do_prepare(
        self, seed: int, reference: str, sample_s: float, data: Optional[str] = None, factor: Optional[float] = None
    ) -> Dict[str, Any]:
        """Build the program, make its first call, check it and calibrate it."""
        specification = workloads.load_specification(self._cell.workload)
        size = specification.SIZES[self._cell.size]
        adapter, precision = self._adapter, self._cell.precision
        if precision not in specification.PRECISIONS:
            raise Unsupported("workload {} is not specified for {}".format(self._cell.workload, precision))
        drawn, drawn_batches, description = check.draw(specification, size, seed, data)
        identity = check.digest(drawn, drawn_batches)
        parameters = {name: adapter.put(array) for name, array in drawn.items()}
        batches = [tuple(adapter.put(array) for array in batch) for batch in drawn_batches]
        initial = drawn if specification.TRAINING else {}
        del drawn, drawn_batches
        memory.forget_peak()

        self._enter("build")
        start = time.perf_counter()
        program = self._build(size, parameters, batches[0], Transform(self._cell.mode, adapter.transform))
        self._enter("first-call")
        adapter.synchronize(program.step(*batches[0]))
        first_call_s = time.perf_counter() - start
        first_call_peak = memory.peak_bytes()

        self._enter("check")
        outputs = check.program_outputs(program, batches, adapter.get, initial)
        factor = factor or getattr(specification, "TOLERANCE_FACTOR", check.TOLERANCE_FACTOR)
        checked = check.compare(outputs, reference, identity, precision, factor)
        del outputs, initial
        self._verify_threads()

        self._enter("calibrate")
        # What exists now lives as long as the process: the collector need not look at it between samples.
        gc.collect()
        getattr(gc, "freeze", lambda: None)()
        memory.forget_peak()
        self._stopwatch = Stopwatch(
            program.step,
            batches,
            adapter.synchronize,
            reset=program.reset or (lambda: None),
            each=self._cell.device == "cpu",
        )
        warmup_ns = self._stopwatch.calibrate(int(sample_s * 1e9))
        self._first_call_peak = first_call_peak
        work = {
            "useful_flops": float(specification.useful_flops(size)),
            "compulsory_bytes": float(specification.compulsory_bytes(size, 2 if precision.endswith("16") else 4)),
            "items": specification.items(size),
            "item": specification.ITEM,
        }
        return {
            "event": "prepared",
            "first_call_s": first_call_s,
            "check": checked,
            "warmup_ns": warmup_ns,
            "work": work,
            "data": description,
        }

    def _verify_threads(self) -> None:
        asked, found = self._cell.threads, self._adapter.settings().get("threads")
        if found != asked:
            raise RuntimeError("{} threads were asked for, {} are in force".format(asked, found))

    def do_turn(self, samples: int) -> Dict[str, Any]:
        """Take timed samples; the only request that is answered while every other worker is stopped."""
        if self.stage != "measure":
            self._enter("measure")
        return dict(event="turn", **self._stopwatch.turn(samples)._asdict())  # type: ignore[union-attr]

    def do_finish(self) -> Dict[str, Any]:
        """Read back what was in force and how much memory was used."""
        self._enter("finish")
        peak = memory.peak_bytes()
        used = {
            "baseline_bytes": self._baseline_bytes,
            "peak_bytes": max(0, peak - self._baseline_bytes),
            "first_call_peak_bytes": max(0, self._first_call_peak - self._baseline_bytes),
        }
        used.update(self._adapter.memory())
        settings = dict(self._adapter.settings())
        settings["synchronised"] = "every step" if self._cell.device == "cpu" else "every sample"
        settings.update(machine.steering_variables())
        return {"event": "finished", "memory": used, "settings": settings}

    def answer(self, request: Dict[str, Any]) -> bool:
        """Do one request and send its answer; return False when the cell has ended."""
        arguments = dict(request)
        action = getattr(self, "do_" + arguments.pop("do"))
        try:
            self._channel.send(**action(**arguments))
            return True
        except Exception as error:  # The cell boundary: whatever happened becomes a status and a reason.
            self._channel.send(event="ended", status=status_of(error), stage=self.stage, reason=reason_of(error))
            raise
