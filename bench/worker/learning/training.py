"""Trains one program over whole epochs: draws its weights, times the steps of an epoch, and evaluates it."""

from __future__ import annotations

import gc
import time
from typing import Any, Callable, Dict, Sequence, Tuple

import numpy as np

from ...program import Program
from ..checking import parity, projection
from ..timing.stopwatch import WARMUP_STEPS
from . import division
from .scores import scores


class Training:
    """The training of one program, from the weights and in the order that a seed gives."""

    def __init__(self, specification: Any, size: Dict[str, int], seed: int, nudged: int, examples: Any) -> None:
        """Draw the initial weights; ``nudged`` above 0 changes them in the last bit, as ``parity.nudged`` does."""
        self._specification = specification
        self._batch = size["batch"]
        self._seed = seed
        self._examples = examples
        self._epoch = 0
        drawn = specification.parameters(size, np.random.RandomState(seed))
        self.initial = parity.nudged(drawn, nudged)

    def steps(self) -> int:
        """Return the number of batches in an epoch."""
        return len(self._examples.training) // self._batch

    def batches(self, epoch: int) -> Sequence[Tuple[Any, ...]]:
        """Return the batches of an epoch, in their order."""
        rows = division.order(self._examples.training, self._seed, epoch)
        taken = division.whole_batches(rows, self._batch)
        return [self._specification.examples(self._examples.source, each) for each in taken]

    def first_batch(self) -> Tuple[Any, ...]:
        """Return the first batch of the first epoch."""
        rows = division.order(self._examples.training, self._seed, 0)[: self._batch]
        batch: Tuple[Any, ...] = self._specification.examples(self._examples.source, rows)
        return batch

    def digest(self) -> str:
        """Return a hash of the initial weights and of all batches of the first epoch, in their order."""
        return parity.digest(self.initial, self.batches(0))

    def warm_up(self, program: Program, run: Callable[[Sequence[Any]], Any], adapter: Any) -> float:
        """Do the steps in which compilers still work, and forget them; return their seconds."""
        assert program.reset is not None
        batch = tuple(adapter.put(array) for array in self.first_batch())
        start = time.perf_counter()
        for _ in range(WARMUP_STEPS):
            adapter.synchronize(run([batch]))
        taken = time.perf_counter() - start
        program.reset()
        return taken

    def run_epoch(self, program: Program, run: Callable[[Sequence[Any]], Any], adapter: Any) -> Dict[str, Any]:
        """Train for one epoch and evaluate; return the nanoseconds of the steps, and what the evaluation gives.

        The batches lie on the device before the clock starts. After the first epoch ``update`` has the projections of
        what it changed in each parameter, from which the host computes how far the frameworks are apart.
        """
        batches = [tuple(adapter.put(array) for array in batch) for batch in self.batches(self._epoch)]
        gc.collect()
        gc.disable()
        try:
            cpu, start = time.process_time_ns(), time.perf_counter_ns()
            adapter.synchronize(run(batches))
            taken = {"train_ns": time.perf_counter_ns() - start, "cpu_ns": time.process_time_ns() - cpu}
        finally:
            gc.enable()
        del batches
        first, self._epoch = self._epoch == 0, self._epoch + 1
        found = dict(taken, epoch=self._epoch, **self._evaluated(program, adapter))
        if first:
            found["update"] = self._update(program, adapter)
        return found

    def _evaluated(self, program: Program, adapter: Any) -> Dict[str, float]:
        assert program.evaluate is not None
        logits, labels = [], []
        for rows, count in division.padded_batches(self._examples.validation, self._batch):
            batch = self._specification.examples(self._examples.source, rows)
            outputs = adapter.get(program.evaluate(*(adapter.put(array) for array in batch[:-1])))
            logits.append(outputs[:count])
            labels.append(batch[-1][:count])
        return scores(np.concatenate(logits), np.concatenate(labels))

    def _update(self, program: Program, adapter: Any) -> Dict[str, Any]:
        assert program.parameters is not None
        return {
            name: projection.projected(name, parity.change(name, adapter.get(value), self.initial)).tolist()
            for name, value in program.parameters().items()
        }
