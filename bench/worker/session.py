"""Runs a cell inside its process: import, prepare (build, first call, check), calibrate, turns, finish.

Two other requests serve the run as a whole, each in a process of its own: ``peaks`` and ``fit``.

Each request is a method; each announces its stages, so that the host can say where a process died. Whatever goes
wrong becomes an ``ended`` message with a status, a stage and a reason.
"""

from __future__ import annotations

import gc
import os
import time
from typing import Any, Dict, List, Optional, Tuple

from ..cell import Cell
from ..frameworks import loaded
from ..frameworks.extension import ExtendedAdapter
from ..frameworks.precisions import TF32
from ..program import Transform, Unsupported
from ..registry import BUILT_IN, Registry
from . import family, process, steering
from .channel import Channel
from .checking import inputs, late, parity
from .exit_status import reason_of, status_of
from .imported import Imported
from .learning import division
from .learning.lessons import Lessons
from .learning.training import Training
from .limits import fitting, memory, peaks
from .scratch import Scratch
from .timing.layout import Layout, settle_allocator
from .timing.stopwatch import Stopwatch, looped
from .timing.waiting import Waiting

#: Seconds in which the processes that compiled end.
COMPILERS_END_S = 2.0


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
        self._adapter: Any = None
        self._stopwatch: Optional[Stopwatch] = None
        self._step_ns = 0
        self._waiting: Optional[Waiting] = None
        self._first_call_peak = 0
        self._peak_is_new = False
        self._compiled_before: Dict[str, Any] = {}
        self._slowdown = 0.0
        self._cap: Optional[fitting.Cap] = None
        self._program: Any = None
        self._batches: List[Any] = []
        self._synchronised = "every sample"
        self._late: Optional[late.LateCheck] = None
        self._training: Optional[Training] = None

    def _enter(self, stage: str) -> None:
        self.stage = stage
        self._channel.send(event="stage", stage=stage)

    def do_reference(
        self, workload: str, size: str, seed: int, path: str, data: Optional[str] = None
    ) -> Dict[str, Any]:
        """Compute a workload's float64 reference and store it."""
        specification = self._registry.specification(workload)
        parity.write_reference(path, specification, specification.SIZES[size], seed, data)
        return {"event": "referenced"}

    def do_import(
        self, cell: Dict[str, Any], memory_limit_bytes: Optional[int] = None, cap_bytes: Optional[int] = None
    ) -> Dict[str, Any]:
        """Import the framework and set it up for the cell.

        ``memory_limit_bytes`` is for the whole process and protects the machine; ``cap_bytes`` is what the cell itself
        may use, import not included, see ``do_fit``.
        """
        self._cell = Cell.from_json(cell)
        self._enter("import")
        # What a framework caches in the host's temporary folder must stay there.
        if not self._registry.facts(self._cell.framework).caches_temporary_files:
            self._scratch.take()
        # A heap that keeps released memory would count against a cap.
        if not cap_bytes:
            settle_allocator()
        if memory_limit_bytes:
            memory.limit_bytes(memory_limit_bytes)
        adapter = self._imported.adapter(self._registry, self._cell.framework)
        start = time.perf_counter()
        self._build = self._registry.implementation(self._cell.workload, self._cell.framework)
        import_s = self._imported.seconds + time.perf_counter() - start
        self._adapter = self._made(adapter)
        if cap_bytes:
            self._cap = fitting.Cap(cap_bytes, self._adapter, self._cell)
        self._baseline_bytes = memory.resident_bytes()
        # In a process of its own, these modules are part of the first call.
        self._baseline_bytes -= self._imported.preloaded_bytes(self._preloads)
        versions = steering.versions()
        versions.update(self._adapter.versions())
        return {"event": "imported", "import_s": import_s, "versions": versions}

    @property
    def _preloads(self) -> Tuple[str, ...]:
        """List the modules that the cell imports in its first call, unless this process's parent has."""
        training = bool(self._registry.specification(self._cell.workload).TRAINING)
        return self._registry.facts(self._cell.framework).preloads(self._cell.mode, training=training)

    def _made(self, module: Any) -> Any:
        """Make the adapter of the cell, whose mode may be another source's."""
        cell = self._cell
        extension = self._registry.extension(cell.framework, cell.mode)
        if extension is None:
            return module.Adapter(cell.mode, cell.device, cell.precision, cell.threads)
        plain = self._registry.facts(cell.framework).modes[0].name
        return ExtendedAdapter(module.Adapter(plain, cell.device, cell.precision, cell.threads), extension, cell.mode)

    def do_prepare(
        self,
        seed: int,
        reference: str,
        data: Optional[str] = None,
        factor: Optional[float] = None,
    ) -> Dict[str, Any]:
        """Build the program, make its first call and check it. Others may compute meanwhile, as no step is timed."""
        specification, size = self._specified()
        adapter = self._adapter
        draw = inputs.drawn(specification, size, seed, data, reference)
        parameters = {name: adapter.put(array) for name, array in draw.parameters.items()}
        self._batches = batches = [tuple(adapter.put(array) for array in batch) for batch in draw.batches]
        initial = dict(draw.parameters, **parity.initial_state(specification, size)) if specification.TRAINING else {}
        identity, description = draw.digest, draw.description
        del draw
        memory.forget_peak()
        program, first_call_s = self._first_call(size, parameters, batches[0])
        self._first_call_peak = memory.peak_bytes()

        self._enter("check")
        reduced = parity.is_reduced(specification, size)
        outputs = parity.program_outputs(program, batches, adapter.get, initial, reduced=reduced)
        factor = factor or getattr(specification, "TOLERANCE_FACTOR", parity.TOLERANCE_FACTOR)
        checked = parity.compare(outputs, reference, identity, self._computes_in, factor)
        run = program.run or looped(program.step, adapter.synchronize, True)
        self._late = late.LateCheck(program, run, batches, reference, self._computes_in, factor)
        del outputs, initial
        self._verify_threads()
        self._verify_tf32()
        self._settle()
        # These objects live as long as the process; the collector need not visit them between samples. What the import
        # made is not searched for garbage: that took 0.3 s with PyTorch's compiler, in each of many forked workers.
        gc.collect(1)
        getattr(gc, "freeze", lambda: None)()
        return {
            "event": "prepared",
            "first_call_s": first_call_s,
            "check": checked,
            "work": self._work(specification, size),
            "data": description,
        }

    def do_calibrate(self, sample_s: float, slowdown: float = 0.0, sized_for: float = 0.0) -> Dict[str, Any]:
        """Warm the program up and find how many steps fill a sample; ``slowdown`` is planted in the samples."""
        self._enter("calibrate")
        warmup_ns = self._calibrate(self._program, self._batches, int(sample_s * 1e9), slowdown, sized_for)
        self._step_ns = min(warmup_ns[-3:])
        # Checking and fetching needed memory that the steps do not need.
        self._peak_is_new = memory.forget_peak()
        self._slowdown = slowdown
        self._compiled_before = self._compilation()
        return {"event": "calibrated", "warmup_ns": warmup_ns}

    def _specified(self) -> Tuple[Any, Dict[str, int]]:
        """Return the specification of the cell's workload and its size; raises Unsupported for another precision."""
        specification = self._registry.specification(self._cell.workload)
        if self._cell.precision not in specification.PRECISIONS:
            raise Unsupported("workload {} is not specified for {}".format(self._cell.workload, self._cell.precision))
        return specification, specification.SIZES[self._cell.size]

    @property
    def _computes_in(self) -> str:
        """Return the precision of the products: the cell's, or the lower one that the mode has."""
        facts = self._registry.facts(self._cell.framework)
        return facts.mode(self._cell.mode).computes_in or self._cell.precision

    def _transform(self) -> Transform:
        part = self._registry.facts(self._cell.framework).mode(self._cell.mode).part
        return Transform(self._cell.mode, self._adapter.transform, part)

    def _first_call(self, size: Dict[str, int], parameters: Dict[str, Any], batch: Any) -> Tuple[Any, float]:
        """Build the program and make its first step; return it and the seconds of both, compilation included."""
        self._enter("build")
        start = time.perf_counter()
        program = self._program = self._build(size, parameters, batch, self._transform())
        self._enter("first-call")
        self._adapter.synchronize(program.step(*batch))
        return program, time.perf_counter() - start + self._imported.preloaded_s(self._preloads)

    def _calibrate(
        self, program: Any, batches: List[Any], sample_ns: int, slowdown: float, sized_for: float
    ) -> List[int]:
        """Make the stopwatch of a program and calibrate it; return the warm-up times in ns."""
        self._waiting = Waiting(loaded.processors())
        # On a processor, steps that were only ordered may overlap; a GPU computes them in order.
        each = self._cell.device == "cpu" and self._adapter.settings().get("dispatch") != "inline"
        self._synchronised = "every step" if each and program.run is None else "every sample"
        self._stopwatch = Stopwatch(
            program.run or looped(program.step, self._adapter.synchronize, each),
            batches,
            self._adapter.synchronize,
            reset=program.reset or (lambda: None),
            slowdown=slowdown,
            sized_for=sized_for,
            waited=self._waiting,
        )
        return self._stopwatch.calibrate(sample_ns, program.starts)

    def _verify_growth(self, stopwatch: Stopwatch) -> None:
        """Check that time grows with work."""
        training, get = self._program.parameters, self._adapter.get

        def fetch(outputs: Dict[str, Any]) -> List[Any]:
            return [get(value) for value in ([outputs["loss"]] if training else outputs.values())]

        stopwatch.verify_growth(fetch, self._step_ns, self._program.starts)

    def _settle(self) -> None:
        """End what the framework used for compiling: nothing but the program may compute while samples are timed."""
        settle = getattr(self._adapter, "settle", None)
        if settle is not None:
            settle()
            # A pool's processes become children of this one when the pool ends, and end a moment later.
            compiling = family.lasting(os.getpid(), COMPILERS_END_S, self._program.processes)
            if compiling:
                raise RuntimeError("processes that compiled still run: {}".format(compiling))

    def do_warm(self, cell: Dict[str, Any]) -> Dict[str, Any]:
        """Compile what the cell's mode compiles once in an installation, so that it is part of no cell's first call."""
        self._cell = Cell.from_json(cell)
        self._enter("first-call")
        start = time.perf_counter()
        self._made(self._imported.adapter(self._registry, self._cell.framework)).warm()
        return {"event": "warmed", "seconds": time.perf_counter() - start}

    def _work(self, specification: Any, size: Dict[str, int]) -> Dict[str, Any]:
        itemsize = peaks.ITEMSIZE[self._computes_in]
        return {
            "useful_flops": float(specification.useful_flops(size)),
            "flops_divisor": float(getattr(specification, "FLOPS_DIVISOR", 1.0)),
            "compulsory_bytes": float(specification.compulsory_bytes(size, itemsize)),
            "items": specification.items(size),
            "item": specification.ITEM,
        }

    def _compilation(self) -> Dict[str, Any]:
        return dict(getattr(self._adapter, "compilation", dict)())

    def _verify_threads(self) -> None:
        asked, found = self._cell.threads, self._adapter.settings().get("threads")
        if found is None and not loaded.is_bound():
            return  # Without binding, a library that does not report its threads leaves them unknown.
        if found != asked:
            raise RuntimeError("{} threads were asked for, {} are in force".format(asked, found))

    def _verify_tf32(self) -> None:
        """Check that products may be in TF32 where the cell says so: float32 would be right, and no TF32."""
        found = self._adapter.settings().get("float32 matmul")
        if self._cell.precision == TF32 and found != TF32:
            raise RuntimeError("TF32 was asked for, and products are in {}".format(found))

    def do_move(self, processors: List[int]) -> Dict[str, Any]:
        """Move the process to other processors: workers that are prepared at the same time start on separate ones."""
        process.move(processors, self._program.processes if self._program is not None else ())
        if self._waiting is not None:
            self._waiting.watch(processors)
        return {"event": "moved"}

    def do_turn(self, samples: int, turn: Optional[int] = None) -> Dict[str, Any]:
        """Take timed samples; the only request that is answered while every other worker is stopped.

        Processes that take the same ``turn`` have the same memory layout in it.
        """
        if self.stage != "measure":
            self._enter("measure")
        self._layout.scatter(turn)
        taken = self._stopwatch.turn(samples)  # type: ignore[union-attr]
        # The host compares this clock with its own.
        return dict(event="turn", clock_ns=self._stopwatch.now_ns(), **taken._asdict())  # type: ignore[union-attr]

    def do_work(self, seconds: float) -> Dict[str, Any]:
        """Run steps for so long; the host reads meanwhile how much energy the device takes."""
        steps, elapsed_ns = self._stopwatch.work(int(seconds * 1e9))  # type: ignore[union-attr]
        return {"event": "worked", "steps": steps, "seconds": elapsed_ns / 1e9}

    def do_finish(self, again: bool = True, growth: bool = True) -> Dict[str, Any]:
        """Read back what was in force and how much memory was used, and check the outputs ``again``.

        ``growth`` says whether to verify that time grows with work. That comes after the samples.
        Before them, it changed their times by up to 1.4 %.
        """
        self._enter("finish")
        peak = memory.peak_bytes()
        used = {
            "baseline_bytes": self._baseline_bytes - self._imported.bytes_for_others(self._preloads),
            "import_bytes": self._imported.bytes,
            "peak_bytes": max(0, peak - self._baseline_bytes),
            "first_call_peak_bytes": max(0, self._first_call_peak - self._baseline_bytes),
        }
        if not self._peak_is_new:
            # The kernel cannot reset the peak, so it includes the first call and the check.
            used["peak_is_of_all"] = 1
        used.update(self._adapter.memory())
        settings = dict(self._adapter.settings())
        # A program that waits for each step itself says so.
        settings.setdefault("synchronised", self._synchronised)
        # So does one whose mode has more devices than its cell.
        settings.setdefault("devices", self._cell.devices)
        if self._stopwatch is not None and self._slowdown:
            settings["planted slowdown"] = self._stopwatch.planted
        settings.update(steering.facts())
        settings["process"] = "forked after the import" if self._forked else "started for the cell"
        settings.update(steering.steering_variables(self._registry.facts(self._cell.framework)))
        compilation = self._compilation()
        if "compilations" in compilation:
            before = self._compiled_before.get("compilations", 0)
            compilation["recompiled_while_timing"] = compilation.pop("compilations") - before
        answer = {"event": "finished", "memory": used, "settings": settings, "compilation": compilation}
        if growth and self._stopwatch is not None:
            self._verify_growth(self._stopwatch)
        # Last, since it needs memory, and maybe compiles.
        if again and self._late is not None:
            answer["checked_again"] = self._late.verify(self._adapter.get, self._adapter.synchronize)
        return answer

    def do_learn(
        self, seed: int, division_seed: int, share: float, data: Optional[str] = None, nudged: int = 0
    ) -> Dict[str, Any]:
        """Build the program that is trained to a result and make its first call; ``epoch`` trains it.

        ``share`` of the examples, which ``division_seed`` draws, are held out; ``seed`` draws weights and orders.
        """
        specification, size = self._specified()
        self._enter("build")
        examples = division.load(specification, specification.items(size), share, division_seed, data)
        lessons = Lessons(specification, size, seed, nudged, examples)
        parameters = {name: self._adapter.put(array) for name, array in lessons.initial.items()}
        batch = tuple(self._adapter.put(array) for array in lessons.first_batch())
        program, start_s = self._first_call(size, parameters, batch)
        if program.evaluate is None or program.parameters is None:
            raise Unsupported("this implementation gives no logits (Program.evaluate), from which accuracy is computed")
        run = program.run or looped(program.step, self._adapter.synchronize, self._cell.device == "cpu")
        self._training = Training(lessons, program, run, self._adapter)
        start_s += self._training.warm_up()
        self._verify_threads()
        self._settle()
        return {
            "event": "learning",
            "training": len(examples.training),
            "validation": len(examples.validation),
            "batch": lessons.batch,
            "steps": lessons.steps,
            "start_s": start_s,
            "data": examples.description,
            "digest": lessons.digest(),
        }

    def do_epoch(self) -> Dict[str, Any]:
        """Train for one epoch, and evaluate on the examples that are held out."""
        if self._training is None:
            raise RuntimeError("an epoch was asked for before 'learn'")
        self._enter("measure")
        return dict(self._training.run_epoch(), event="epoch")

    def do_peaks(self, precisions: List[str]) -> Dict[str, Any]:
        """Measure the peaks of this machine with this framework; those that cannot be measured get a reason."""
        self._enter("measure")
        return dict(event="peaks", **peaks.find(self._adapter, self._cell, precisions))

    def do_fit(self, seed: int, items: int) -> Dict[str, Any]:
        """Try a batch of ``items`` under the cap that ``import`` was given; a batch that does not fit ends the cell."""
        specification, size = self._specified()
        self._enter("build")
        batch = fitting.Batch(specification, self._cell.workload, size, items, seed)
        batch.try_steps(self._adapter, self._build, self._transform(), self._enter, self._cap)
        used = {"allocated_peak_bytes": max(0, memory.peak_bytes() - self._baseline_bytes)}
        used.update(self._adapter.memory())
        return {
            "event": "fitted",
            "peak_bytes": used["allocated_peak_bytes"],
            "items": specification.items(batch.size),
            "item": specification.ITEM,
        }

    def close(self) -> None:
        """End what the program started; the process ends after it."""
        if self._program is not None and self._program.close is not None:
            self._program.close()
        self._program = None

    def answer(self, request: Dict[str, Any]) -> bool:
        """Do one request and send its answer; return False when the cell has ended."""
        try:
            arguments = dict(request)
            action = getattr(self, "do_{}".format(arguments.pop("do")))
            self._channel.send(**action(**arguments))
            return True
        except Exception as error:  # The cell boundary: whatever happened becomes a status and a reason.
            reason = reason_of(error, self._registry.place_of(error))
            self._channel.send(event="ended", status=status_of(error), stage=self.stage, reason=reason)
            raise
