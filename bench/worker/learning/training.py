"""Trains one program over whole epochs: builds it, warms it up, times the steps of an epoch, and evaluates it."""

from __future__ import annotations

import gc
import time
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

import numpy as np

from ...program import Program, Unsupported
from .. import in_force
from ..checking import parity, projection
from ..live_cell import Enter, LiveCell
from ..timing.stopwatch import WARMUP_STEPS, looped
from . import division
from .lessons import Lessons
from .scores import scores

#: Runs a list of batches, as ``Program.run`` does.
Run = Callable[[Sequence[Any]], Any]


class Training:
    """The training of one program."""

    def __init__(self, lessons: Lessons, program: Program, run: Run, adapter: Any) -> None:
        self._lessons = lessons
        self._program = program
        self._run = run
        self._adapter = adapter
        self._epoch = 0

    def warm_up(self) -> float:
        """Do the steps in which compilers still work, and forget them; return their seconds."""
        assert self._program.reset is not None
        batch = self._put(self._lessons.first_batch())
        start = time.perf_counter()
        for _ in range(WARMUP_STEPS):
            self._adapter.synchronize(self._run([batch]))
        taken = time.perf_counter() - start
        self._program.reset()
        return taken

    def run_epoch(self) -> Dict[str, Any]:
        """Train for one epoch and evaluate; return the nanoseconds of the steps, and what the evaluation gives.

        The batches lie on the device before the clock starts. After the first epoch ``update`` has the projections of
        what it changed in each parameter, from which the host computes how far the frameworks are apart.
        """
        batches = [self._put(batch) for batch in self._lessons.batches(self._epoch)]
        # On a GPU, JAX may still copy them.
        self._adapter.synchronize(dict(enumerate(array for batch in batches for array in batch)))
        gc.collect()
        gc.disable()
        try:
            cpu, start = time.process_time_ns(), time.perf_counter_ns()
            self._adapter.synchronize(self._run(batches))
            taken = {"train_ns": time.perf_counter_ns() - start, "cpu_ns": time.process_time_ns() - cpu}
        finally:
            gc.enable()
        del batches
        first, self._epoch = self._epoch == 0, self._epoch + 1
        found: Dict[str, Any] = dict(taken, epoch=self._epoch)
        found.update(self._evaluated())
        if first:
            found["update"] = self._update()
        return found

    def _put(self, batch: Any) -> Any:
        return tuple(self._adapter.put(array) for array in batch)

    def _evaluated(self) -> Dict[str, float]:
        assert self._program.evaluate is not None
        logits, labels = [], []
        for rows, count in division.padded_batches(self._lessons.examples.validation, self._lessons.batch):
            batch = self._lessons.of_rows(rows)
            outputs = self._adapter.get(self._program.evaluate(*self._put(batch[:-1])))
            logits.append(outputs[:count])
            labels.append(batch[-1][:count])
        return scores(np.concatenate(logits), np.concatenate(labels))

    def _update(self) -> Dict[str, Any]:
        assert self._program.parameters is not None
        get, initial = self._adapter.get, self._lessons.initial
        return {
            name: projection.projected(name, parity.change(name, get(value), initial)).tolist()
            for name, value in self._program.parameters().items()
        }


def begin(
    live: LiveCell,
    enter: Enter,
    seed: int,
    division_seed: int,
    share: float,
    *,
    data: Optional[str],
    nudged: int,
) -> Tuple[Training, Dict[str, Any]]:
    """Build the program of a cell, make its first call and warm it up; return its training and the answer to the host.

    ``share`` of the examples, which ``division_seed`` draws, are held out; ``seed`` draws weights and orders.
    """
    if live.facts.mode(live.cell.mode).devices > 1:
        raise Unsupported(
            "mode {} divides its batches between devices once, before it is timed, and every epoch has new ones".format(
                live.cell.mode
            )
        )
    specification, size = live.specified()
    enter("build")
    examples = division.load(specification, specification.items(size), share, division_seed, data)
    lessons = Lessons(specification, size, seed, nudged, examples)
    parameters = {name: live.adapter.put(array) for name, array in lessons.initial.items()}
    batch = tuple(live.adapter.put(array) for array in lessons.first_batch())
    program, start_s = live.first_call(size, parameters, batch, enter)
    if program.evaluate is None or program.parameters is None:
        raise Unsupported("this implementation gives no logits (Program.evaluate), from which accuracy is computed")
    run = program.run or looped(program.step, live.adapter.synchronize, live.cell.device == "cpu")
    training = Training(lessons, program, run, live.adapter)
    start_s += training.warm_up()
    in_force.verify(live.cell, live.adapter.settings())
    live.settle()
    answer = {
        "training": len(examples.training),
        "validation": len(examples.validation),
        "batch": lessons.batch,
        "steps": lessons.steps,
        "start_s": start_s,
        "data": examples.description,
        "digest": lessons.digest(),
    }
    return training, answer
