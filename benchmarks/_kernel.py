"""Builds the NumPy steps that workers time, as functions without arguments that other tools can time.

It runs inside the other tools' environment: ``python -m benchmarks._kernel pyperf|torch WORKLOAD SIZE …``.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable

SEED = 20261121
#: The variable that gives a process a random memory layout, as workers have.
SCATTERED = "KERNEL_SCATTERED"


def make_step(workload: str, size: str) -> Callable[[], object]:
    """Build the NumPy program of a workload; its step rotates through the same batches as in a worker."""
    from bench.frameworks.numpy.adapter import Adapter
    from bench.program import Transform
    from bench.registry import BUILT_IN
    from bench.worker.checking import parity
    from bench.worker.timing import layout

    kept = layout.Layout()
    if os.environ.get(SCATTERED):
        layout.settle_allocator()
        kept.scatter()
    specification = BUILT_IN.specification(workload)
    adapter = Adapter("eager", "cpu", "float32", 1)
    drawn, drawn_batches, _ = parity.draw(specification, specification.SIZES[size], SEED)
    parameters = {name: adapter.put(array) for name, array in drawn.items()}
    batches = [tuple(adapter.put(array) for array in batch) for batch in drawn_batches]
    build = BUILT_IN.implementation(workload, "numpy")
    step = build(specification.SIZES[size], parameters, batches[0], Transform("eager", adapter.transform)).step
    following = itertools.cycle(batches)
    # The blocks must stay allocated as long as the step is timed.
    return lambda kept=kept: step(*next(following))


def time_with_torch(workload: str, size: str) -> float:
    """Return the median seconds of a step from torch.utils.benchmark's ``blocked_autorange`` with its defaults."""
    from torch.utils.benchmark import Timer

    timer = Timer(stmt="step()", globals={"step": make_step(workload, size)}, num_threads=1)
    return float(timer.blocked_autorange().median)


def time_with_pyperf(workload: str, size: str) -> None:
    """Time a step with pyperf's defaults, 20 processes of 3 values; pyperf parses the remaining arguments."""
    import pyperf

    runner = pyperf.Runner(program_args=("-m", "benchmarks._kernel", "pyperf", workload, size))
    for name in ("which", "workload", "size"):
        runner.argparser.add_argument(name)
    runner.parse_args()
    runner.bench_func(workload, make_step(workload, size))


if __name__ == "__main__":
    which, workload, size = sys.argv[1:4]
    if which == "torch":
        print(json.dumps(time_with_torch(workload, size)))
    else:
        time_with_pyperf(workload, size)
