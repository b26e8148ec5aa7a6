"""Times our step and the public one in turns, inside an environment, and prints one line of JSON.

    python alternate.py FRAMEWORK MODE WORKLOAD SIZE TURNS

Both have the same batch and layers of the same shapes; the values of their parameters differ.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time

from bench.program import Transform
from bench.registry import BUILT_IN
from bench.worker.checking import parity

SAMPLE_S = 0.05


def steps_for(step, adapter):
    """Warm up ``step`` and return how many steps take about ``SAMPLE_S``."""
    for _ in range(20):
        adapter.synchronize(step())
    start = time.perf_counter()
    for _ in range(10):
        adapter.synchronize(step())
    return max(1, round(10 * SAMPLE_S / (time.perf_counter() - start)))


def step_s(step, adapter, steps):
    start = time.perf_counter()
    for _ in range(steps):
        adapter.synchronize(step())
    return (time.perf_counter() - start) / steps


def ours(framework, adapter, mode, workload, size, parameters, batch):
    build = BUILT_IN.implementation(workload, framework)
    program = build(size, parameters, batch, Transform(mode, adapter.transform))
    return lambda: program.step(*batch)


def main(framework, mode, workload, size_name, turns):
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    drawn, batches, _ = parity.draw(specification, size, 1)
    parameters = {name: adapter.put(array) for name, array in drawn.items()}
    batch = tuple(adapter.put(array) for array in batches[0])
    public = importlib.import_module("with_" + framework).step(workload, size, mode, batch)
    pair = (ours(framework, adapter, mode, workload, size, parameters, batch), public)
    counts = [steps_for(step, adapter) for step in pair]
    times = [[], []]
    for turn in range(int(turns)):
        for side in (0, 1) if turn % 2 else (1, 0):
            step_s(pair[side], adapter, max(3, counts[side] // 10))
            times[side].append(step_s(pair[side], adapter, counts[side]))
    return {"ours_s": times[0], "public_s": times[1]}


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["OMP_NUM_THREADS"])])
    print("\n" + json.dumps(main(*sys.argv[1:])))
