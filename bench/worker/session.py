"""Runs a cell inside its process: import, prepare (build, first call, check), calibrate, turns, finish.

Other requests have a process of their own: ``reference``, ``warm``, ``peaks`` and ``fit``, which serve a whole run or
row, and ``learn`` with its ``epoch``s, a training to a result. ``move`` may come before ``calibrate``, and ``work``
after the turns.

Each request is a method; each announces its stages, so that the host can say where a process died. Whatever goes
wrong becomes an ``ended`` message with a status, a stage and a reason.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional

from ..cell import Cell
from ..registry import BUILT_IN, Registry
from . import in_force, preparation, process, steering
from .channel import Channel
from .checking import parity
from .exit_status import reason_of, status_of
from .imported import Imported
from .learning import training
from .limits import fitting, memory, peaks
from .live_cell import LiveCell, adapter_of
from .scratch import Scratch
from .timing.layout import Layout, settle_allocator
from .timing.timed_program import TimedProgram


class Session:
    """One cell in this process."""

    def __init__(
        self,
        channel: Channel,
        scratch: Scratch,
        layout: Layout,
        registry: Registry = BUILT_IN,
        imported: Optional[Imported] = None,
    ) -> None:
        """``imported`` is what the parent that this process was forked from has imported; None if it was not forked."""
        self._channel = channel
        self._registry = registry
        self._scratch = scratch
        self._layout = layout
        self._forked = imported is not None
        self._imported = imported or Imported()
        self.stage = "start"
        #: What import, prepare, calibrate and learn made; None before. Another order is an error of the host.
        self._live: Any = None
        self._prepared: Any = None
        self._timed: Any = None
        self._training: Optional[training.Training] = None
        self._compiled_before: Dict[str, Any] = {}
        self._cap: Optional[fitting.Cap] = None

    def _enter(self, stage: str) -> None:
        self.stage = stage
        self._channel.send(event="stage", stage=stage)

    def do_reference(
        self, workload: str, size: str, seed: int, path: str, data: Optional[str] = None, mixed: bool = False
    ) -> Dict[str, Any]:
        """Compute a workload's float64 reference and store it, with the errors of mixed precision if ``mixed``."""
        specification = self._registry.specification(workload)
        parity.write_reference(path, specification, specification.SIZES[size], seed, data, mixed=mixed)
        return {"event": "referenced"}

    def do_import(
        self, cell: Dict[str, Any], memory_limit_bytes: Optional[int] = None, cap_bytes: Optional[int] = None
    ) -> Dict[str, Any]:
        """Import the framework and set it up for the cell.

        ``memory_limit_bytes`` is for the whole process and protects the machine; ``cap_bytes`` is what the cell itself
        may use, import not included, see ``do_fit``.
        """
        given = Cell.from_json(cell)
        self._enter("import")
        # What a framework caches in the host's temporary folder must stay there.
        if not self._registry.facts(given.framework).caches_temporary_files:
            self._scratch.take()
        # A heap that keeps released memory would count against a cap.
        if not cap_bytes:
            settle_allocator()
        if memory_limit_bytes:
            memory.limit_bytes(memory_limit_bytes)
        live = self._live = LiveCell(given, self._registry, self._imported)
        if cap_bytes:
            self._cap = fitting.Cap(cap_bytes, live.adapter, given)
        live.note_baseline()
        versions = steering.versions()
        versions.update(live.adapter.versions())
        return {"event": "imported", "import_s": live.import_s, "versions": versions}

    def do_warm(self, cell: Dict[str, Any]) -> Dict[str, Any]:
        """Compile what the cell's mode compiles once in an installation, so that it is part of no cell's first call."""
        given = Cell.from_json(cell)
        self._enter("first-call")
        start = time.perf_counter()
        adapter_of(given, self._registry, self._imported.adapter(self._registry, given.framework)).warm()
        return {"event": "warmed", "seconds": time.perf_counter() - start}

    def do_prepare(self, seed: int, reference: str, data: Optional[str] = None) -> Dict[str, Any]:
        """Build the program, make its first call and check it. Others may compute meanwhile, as no step is timed."""
        self._prepared, answer = preparation.prepare(self._live, self._enter, seed, reference, data)
        return dict(answer, event="prepared")

    def do_calibrate(self, sample_s: float, slowdown: float = 0.0, sized_for: float = 0.0) -> Dict[str, Any]:
        """Warm the program up and find how many steps fill a sample; ``slowdown`` is planted in the samples."""
        self._enter("calibrate")
        live = self._live
        timed = self._timed = TimedProgram(
            live.program,
            self._prepared.batches,
            live.adapter,
            device=live.cell.device,
            slowdown=slowdown,
            sized_for=sized_for,
        )
        warmup_ns = timed.calibrate(int(sample_s * 1e9))
        # Checking and fetching needed memory that the steps do not need; so did kernels that were only tried.
        timed.peak_is_new = live.forget_peak()
        self._compiled_before = live.compilation()
        return {"event": "calibrated", "warmup_ns": warmup_ns}

    def do_move(self, processors: List[int]) -> Dict[str, Any]:
        """Move the process to other processors: workers that are prepared at the same time start on separate ones."""
        program = None if self._live is None else self._live.program
        process.move(processors, program.processes if program is not None else ())
        if self._timed is not None:
            self._timed.waiting.watch(processors)
        return {"event": "moved"}

    def do_turn(self, samples: int, turn: Optional[int] = None) -> Dict[str, Any]:
        """Take timed samples; the only request that is answered while every other worker is stopped.

        Processes that take the same ``turn`` have the same memory layout in it.
        """
        if self.stage != "measure":
            self._enter("measure")
        self._layout.scatter(turn)
        stopwatch = self._timed.stopwatch
        taken = stopwatch.turn(samples)
        # The host compares this clock with its own.
        return dict(event="turn", clock_ns=stopwatch.now_ns(), **taken._asdict())

    def do_work(self, seconds: float) -> Dict[str, Any]:
        """Run steps for so long; the host reads meanwhile how much energy the device takes."""
        steps, elapsed_ns = self._timed.stopwatch.work(int(seconds * 1e9))
        return {"event": "worked", "steps": steps, "seconds": elapsed_ns / 1e9}

    def do_finish(self, again: bool = True, growth: bool = True) -> Dict[str, Any]:
        """Read back what was in force and how much memory was used, and check the outputs ``again``.

        ``growth`` says whether to verify that time grows with work. That comes after the samples.
        Before them, it changed their times by up to 1.4 %.
        """
        self._enter("finish")
        live, prepared, timed = self._live, self._prepared, self._timed
        answer = {
            "event": "finished",
            "memory": in_force.memory_of(live, prepared.first_call_peak if prepared else 0, timed),
            "settings": in_force.settings_of(live, timed, forked=self._forked),
            "compilation": in_force.compilation_of(live, self._compiled_before),
        }
        if growth and timed is not None:
            timed.verify_growth()
        # Last, since it needs memory, and maybe compiles.
        if again and prepared is not None:
            answer["checked_again"] = prepared.late.verify(live.adapter.get, live.adapter.synchronize)
        return answer

    def do_learn(
        self, seed: int, division_seed: int, share: float, data: Optional[str] = None, nudged: int = 0
    ) -> Dict[str, Any]:
        """Build the program that is trained to a result and make its first call; ``epoch`` trains it."""
        self._training, answer = training.begin(
            self._live, self._enter, seed, division_seed, share, data=data, nudged=nudged
        )
        return dict(answer, event="learning")

    def do_epoch(self) -> Dict[str, Any]:
        """Train for one epoch, and evaluate on the examples that are held out."""
        if self._training is None:
            raise RuntimeError("an epoch was asked for before 'learn'")
        self._enter("measure")
        return dict(self._training.run_epoch(), event="epoch")

    def do_peaks(self, precisions: List[str]) -> Dict[str, Any]:
        """Measure the peaks of this machine with this framework; those that cannot be measured get a reason."""
        self._enter("measure")
        return dict(event="peaks", **peaks.find(self._live.adapter, self._live.cell, precisions))

    def do_fit(self, seed: int, items: int) -> Dict[str, Any]:
        """Try a batch of ``items`` under the cap that ``import`` was given; a batch that does not fit ends the cell."""
        live = self._live
        specification, size = live.specified()
        self._enter("build")
        batch = fitting.Batch(specification, live.cell.workload, size, items, seed)
        batch.try_steps(live.adapter, live.build, live.transform(), self._enter, self._cap)
        return {
            "event": "fitted",
            "peak_bytes": live.adapter.memory().get("allocated_peak_bytes", live.baseline.above()),
            "items": specification.items(batch.size),
            "item": specification.ITEM,
        }

    def close(self) -> None:
        """End what the program started; the process ends after it."""
        if self._live is not None:
            self._live.close()

    def answer(self, request: Dict[str, Any]) -> None:
        """Do one request and send its answer; raises what ended the cell, after it was sent."""
        try:
            arguments = dict(request)
            action = getattr(self, "do_{}".format(arguments.pop("do")))
            self._channel.send(**action(**arguments))
        except Exception as error:  # The cell boundary: whatever happened becomes a status and a reason.
            reason = reason_of(error, self._registry.place_of(error))
            self._channel.send(event="ended", status=status_of(error), stage=self.stage, reason=reason)
            raise
