"""Plans the trials of a validation: how many, of which cells, with how much extra work."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

from bench.cell import Cell

from .trial import Trial

#: Without one false alarm in so many A/A comparisons, the rate is below 1 % with 95 % confidence: 0.99²⁹⁹ < 0.05.
SAME = 299
#: With all of so many found, at least 95 % are found, with 95 % confidence: 0.95⁵⁹ < 0.05.
PLANTED: Mapping[float, int] = {0.02: 59, 0.01: 20, 0.05: 20}
#: Short steps, so that a sample holds enough of them to do 1 % more work.
KERNELS = (
    ("gemm", "tiny"),
    ("elementwise-chain", "tiny"),
    ("mlp-train", "tiny"),
    ("layernorm-softmax", "tiny"),
    ("dispatch", "tiny"),
)
#: NumPy starts in a tenth of the time of a framework: one comparison in this many is one of a framework.
FRAMEWORK_EVERY = 15


def cells(columns: Sequence[tuple[str, str, str]], threads: int) -> Iterator[Cell]:
    """Yield cells to compare with themselves, endlessly: every column, (environment, framework, mode), in turn."""
    kernels = itertools.cycle(KERNELS)
    # One kernel on from column to column, and one more each time around, so that every column gets every kernel.
    for _ in itertools.count():
        for environment, framework, mode in columns:
            workload, size = next(kernels)
            yield Cell(environment, framework, mode, workload, size, "float32", "cpu", threads)
        if len(columns) % len(KERNELS) == 0:
            next(kernels)


def mixed(light: Iterator[Cell], heavy: Iterator[Cell] | None) -> Iterator[Cell]:
    """Mix cells that start quickly with those of the frameworks."""
    for number in itertools.count(1):
        yield next(heavy) if heavy is not None and number % FRAMEWORK_EVERY == 0 else next(light)


def plan(source: Iterator[Cell], same: int, planted: Mapping[float, int], seed: int) -> list[Trial]:
    """List the trials in seeded random order, so that a slow hour of the machine falls on every group of trials."""
    slowdowns = [0.0] * same + [slowdown for slowdown, count in planted.items() for _ in range(count)]
    random.Random(seed).shuffle(slowdowns)
    return [Trial(number, next(source), slowdown) for number, slowdown in enumerate(slowdowns)]
