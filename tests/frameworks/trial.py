"""Runs inside an environment, as ``python tests/frameworks/trial.py FRAMEWORK MODE …``: prints what an adapter says.

It drives the adapter as a worker does, with check-size programs, in a process of its own for each mode, forked from one
that has imported the framework, and prints one line of JSON. The repository must be
on PYTHONPATH.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import traceback
from importlib import import_module

import numpy as np

from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.timing.stopwatch import looped

THREADS = int(os.environ["OMP_NUM_THREADS"])
STEADY_STEPS = 12
STEADY = ("mlp-train", "lenet-train")


def adapter_of(framework, mode, precision="float32"):
    return BUILT_IN.adapter(framework).Adapter(mode, "cpu", precision, THREADS)


def placed(adapter, workload, size_name="check"):
    """Draw a workload's parameters and batches; return its size and both on the device."""
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    parameters, batches, _ = parity.draw(specification, size, 1)
    parameters = {name: adapter.put(value) for name, value in parameters.items()}
    return size, parameters, [tuple(adapter.put(array) for array in batch) for batch in batches]


def built(adapter, framework, mode, workload):
    """Build a workload's program as a session does; return it with its batches on the device."""
    size, parameters, batches = placed(adapter, workload)
    build = BUILT_IN.implementation(workload, framework)
    part = BUILT_IN.facts(framework).mode(mode).part
    return build(size, parameters, batches[0], Transform(mode, adapter.transform, part)), batches


def run(adapter, program, batches, steps):
    if program.reset is not None:
        program.reset()
    given = [batches[index % len(batches)] for index in range(steps)]
    run_all = program.run or looped(program.step, adapter.synchronize, each=True)
    adapter.synchronize(run_all(given))


def steady(framework, mode, workload):
    """Count compilations before and after steps that compile nothing; read the settings."""
    adapter = adapter_of(framework, mode)
    program, batches = built(adapter, framework, mode, workload)
    # TorchScript optimises after its profiling runs; a second reset is part of every turn.
    run(adapter, program, batches, 4)
    run(adapter, program, batches, 2)
    before = adapter.compilation()
    run(adapter, program, batches, STEADY_STEPS)
    return {"before": before, "after": adapter.compilation(), "settings": adapter.settings()}


def attention(framework, mode):
    """Return the settings of a training step with attention, which is built but not run."""
    if framework == "numpy":
        return {}
    adapter = adapter_of(framework, mode)
    built(adapter, framework, mode, "transformer-train")
    return adapter.settings()


def another_shape(framework, mode):
    """Count compilations of a program that is given a second, larger batch; or say why the mode has no inference."""
    adapter = adapter_of(framework, mode)
    try:
        program, batches = built(adapter, framework, mode, "gemm")
    except Unsupported as error:
        return {"unsupported": str(error)}
    run(adapter, program, batches, 4)
    before = adapter.compilation()
    run(adapter, program, placed(adapter, "gemm", "tiny")[2], 1)
    return {"before": before, "after": adapter.compilation(), "settings": adapter.settings()}


def peaks(framework, mode, precision):
    """Return the errors of products and copies that reuse each other's memory; their sources must stay as they are."""
    adapter = adapter_of(framework, mode, precision)
    random = np.random.RandomState(0)
    errors = {"multiply": [], "copy": []}
    for order in (64, 64, 96):
        left, right = (adapter.put(random.standard_normal((order, order)).astype(np.float32)) for _ in range(2))
        drawn = adapter.get(left).copy(), adapter.get(right).copy()
        product = adapter.get(adapter.multiply(left, right))
        errors["multiply"].append(parity.relative_error(product, drawn[0] @ drawn[1]))
        for array, expected in ((left, drawn[0]), (right, drawn[1]), (left, drawn[0])):
            errors["copy"].append(parity.relative_error(adapter.get(adapter.copy(array)), expected))
    return errors


def unlimited(framework, mode):
    try:
        adapter_of(framework, mode).limit_memory(1 << 30)
    except Unsupported as error:
        return str(error)
    return None


def extras(framework, mode):
    """Run what only this framework has: ``extra_<framework>.py`` beside this file."""
    return {} if framework == "numpy" else import_module("extra_" + framework).examine(mode)


def main(framework, mode):
    precisions = ("float32",) if framework == "numpy" else ("float32", "bfloat16")
    return {
        "steady": {workload: steady(framework, mode, workload) for workload in STEADY},
        "attention": attention(framework, mode),
        "another shape": another_shape(framework, mode),
        "peaks": {precision: peaks(framework, mode, precision) for precision in precisions},
        "limit": unlimited(framework, mode),
        "extras": extras(framework, mode),
    }


def forked(framework, mode):
    """Return what a process that is forked for the mode finds; end with its traceback where it fails."""
    path = os.path.join(tempfile.mkdtemp(), "answer.json")
    process = os.fork()
    if process == 0:
        try:
            with open(path, "w") as file:
                json.dump(main(framework, mode), file)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    if os.waitpid(process, 0)[1] != 0:
        sys.exit(f"mode {mode} failed")
    with open(path) as file:
        answer = json.load(file)
    shutil.rmtree(os.path.dirname(path))
    return answer


if __name__ == "__main__":
    # As a worker is bound: JAX sizes its threads by this alone.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    framework, *modes = sys.argv[1:]
    BUILT_IN.adapter(framework)
    answers = {mode: forked(framework, mode) for mode in modes}
    print("\n" + json.dumps(answers))
