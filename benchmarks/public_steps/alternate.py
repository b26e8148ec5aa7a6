"""Times our program and the public ones in turns, inside an environment, and prints one line of JSON.

    python alternate.py FRAMEWORK MODE WORKLOAD SIZE TURNS [PYHPC]

It is empty where one of both is missing. All have the same batch and layers of the same shapes; the values of their
parameters differ. The clock is the processor time of this process where it has one thread: other processes then change
a time little. With more threads it is a clock on the wall, because threads that wait for each other take processor
time, too.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import sys
import time

import pyhpc

from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.timing.layout import settle_allocator
from bench.worker.timing.stopwatch import looped

SAMPLE_S = 0.05
WARM_STEPS = 20
#: Compared with networks of packages that only the environments of ``--packages`` have.
MODELS = ("resnet18", "resnet50", "resnet18-train", "resnet50-train", "gpt", "gpt-train", "kv-decode")
THREADS = int(os.environ["OMP_NUM_THREADS"])
clock = time.process_time if THREADS == 1 else time.perf_counter


def time_s(run, synchronize, batches):
    start = clock()
    synchronize(run(batches))
    return clock() - start


def ours(framework, adapter, mode, workload, size, batch, parameters, each):
    """Build our program and return its ``run``, as a session does."""
    build = BUILT_IN.implementation(workload, framework)
    part = BUILT_IN.facts(framework).mode(mode).part
    program = build(size, parameters, batch, Transform(mode, adapter.transform, part))
    if program.reset is not None:
        program.reset()
    return program.run or looped(program.step, adapter.synchronize, each)


def public(framework, mode, workload, size, batch, parameters, adapter, each, checkout):
    """Return ``{name: run}`` of the public ones: kernels, or steps of a model, waited for where ``each`` says so."""
    if workload in pyhpc.KERNELS:
        return pyhpc.runs(framework, workload, size, mode, adapter.put, checkout)
    if workload in MODELS:
        try:
            models = importlib.import_module("models_" + framework)
        except ImportError:
            return {}
        return models.runs(workload, size, mode, batch)
    kernels = importlib.import_module("kernels_" + framework).runs(workload, size, mode, batch, parameters)
    if kernels:
        return kernels
    steps = importlib.import_module("with_" + framework).steps(workload, size, mode, batch)
    return {name: looped(step, adapter.synchronize, each) for name, step in steps.items()}


def main(framework, mode, workload, size_name, turns, checkout=""):
    # As in a worker: otherwise chance decides whose arrays are returned to the system after every step.
    settle_allocator()
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", "float32", THREADS)
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    drawn, batches, _ = parity.draw(specification, size, 1)
    parameters = {name: adapter.put(array) for name, array in drawn.items()}
    batch = tuple(adapter.put(array) for array in batches[0])
    each = adapter.settings().get("dispatch") != "inline"
    try:
        runs = {"ours": ours(framework, adapter, mode, workload, size, batch, parameters, each)}
    except Unsupported:
        return {}
    # The steps of training need each other, so waiting for the last is waiting for all.
    each = each and not specification.TRAINING
    runs.update(public(framework, mode, workload, size, batch, parameters, adapter, each, checkout))
    if len(runs) == 1:
        return {}
    counts = {}
    for name, run in runs.items():
        time_s(run, adapter.synchronize, [batch] * WARM_STEPS)
        counts[name] = max(1, round(10 * SAMPLE_S / time_s(run, adapter.synchronize, [batch] * 10)))
    found = {name: [] for name in runs}
    orders = itertools.cycle((list(runs), list(runs)[::-1]))
    for _ in range(int(turns)):
        for name in next(orders):
            time_s(runs[name], adapter.synchronize, [batch] * max(3, counts[name] // 10))
            found[name].append(time_s(runs[name], adapter.synchronize, [batch] * counts[name]) / counts[name])
    return found


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    print("\n" + json.dumps(main(*sys.argv[1:])))
