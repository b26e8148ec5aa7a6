"""Runs inside an environment, through server.py: returns what an adapter says in one mode.

It drives the adapter as a worker does, with check-size programs.
"""

from __future__ import annotations

import os
from importlib import import_module, util

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
    transform = Transform.of(BUILT_IN.facts(framework).mode(mode), adapter.transform)
    return build(size, parameters, batches[0], transform), batches


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
    end(program)
    return {"before": before, "after": adapter.compilation(), "settings": adapter.settings()}


def end(program):
    """End what a session ends with its process."""
    if program.close is not None:
        program.close()


def attention(framework, mode):
    """Return the settings of a training step with attention, which is built but not run."""
    if not BUILT_IN.has_implementation("transformer-train", framework):
        return {}
    adapter = adapter_of(framework, mode)
    end(built(adapter, framework, mode, "transformer-train")[0])
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


def all_peaks(framework, mode):
    """Return the errors in float32, and in bfloat16 where the framework has it."""
    found = {"float32": peaks(framework, mode, "float32")}
    try:
        found["bfloat16"] = peaks(framework, mode, "bfloat16")
    except Unsupported as error:
        if "bfloat16" not in str(error):
            raise
    return found


def unlimited(framework, mode):
    try:
        adapter_of(framework, mode).limit_memory(1 << 30)
    except Unsupported as error:
        return str(error)
    return None


def extras(framework, mode):
    """Run what only this framework has: ``extra_<framework>.py`` beside this file, where there is one."""
    name = "extra_" + framework
    return {} if util.find_spec(name) is None else import_module(name).examine(mode)


def main(framework, mode):
    return {
        "steady": {workload: steady(framework, mode, workload) for workload in STEADY},
        "attention": attention(framework, mode),
        "versions": adapter_of(framework, mode).versions(),
        "another shape": another_shape(framework, mode),
        "peaks": all_peaks(framework, mode),
        "limit": unlimited(framework, mode),
        "extras": extras(framework, mode),
    }
