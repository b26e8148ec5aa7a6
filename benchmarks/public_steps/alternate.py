"""Times our program and the public ones in turns, inside an environment, and prints one line of JSON.

    python alternate.py FRAMEWORK MODE WORKLOAD SIZE TURNS [PYHPC [FORM]]

It has the seconds of the steps, ``times``, and how public ones differ from ours, ``differing``: these are not timed.
Both are empty where ours or the public ones are missing. ``versions`` are those of the framework and its parts. All
have the same batch and layers of the same shapes. Kernels have the same parameters, too, and are compared by their
outputs; the values of the parameters of networks differ, see comparison.py. The clock is the processor time of this
process where it has one thread: other processes then change a time little. With more threads it is a clock on the wall,
because threads that wait for each other take processor time, too. TensorFlow 1.x runs this on Python 3.7.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib.util
import itertools
import json
import os
import sys
import time
from typing import Any, NamedTuple

import comparison
import pyhpc

from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.timing.layout import settle_allocator
from bench.worker.timing.stopwatch import looped

SAMPLE_S, LONG_SAMPLE_S = 0.05, 0.5
WARM_STEPS, SLOW_STEP_S = 20, 0.2
#: Compared with networks of packages that only the environments of ``--packages`` have.
MODELS = ("resnet18", "resnet50", "resnet18-train", "resnet50-train", "gpt", "gpt-train", "kv-decode")
#: Whose public forms wait for each step of inference themselves, where a processor's mode is asynchronous.
WAITING = ("torch",)
THREADS = int(os.environ["OMP_NUM_THREADS"])
clock = time.process_time if THREADS == 1 else time.perf_counter


def time_s(run, synchronize, batches):
    start = clock()
    synchronize(run(batches))
    return clock() - start


def ours(framework, adapter, mode, workload, size, batch, parameters, each):
    """Build our program, as a session does, with the ``run`` that it times, which does single steps, too."""
    build = BUILT_IN.implementation(workload, framework)
    program = build(size, parameters, batch, Transform.of(BUILT_IN.facts(framework).mode(mode), adapter.transform))
    if program.reset is not None:
        program.reset()
    run = program.run or looped(program.step, adapter.synchronize, each)
    return program._replace(step=lambda *batch: run([batch]), run=run)


def networks(framework, mode, workload, size, batch, adapter, each):
    """Return ``{name: run}`` of public networks, whose steps are waited for where ``each`` says so."""
    if workload in MODELS:
        try:
            models = importlib.import_module("models_" + framework)
        except ImportError:
            return {}
        found = models.runs(workload, size, mode, batch)
        if each:
            found = {name: waited(run, adapter.synchronize) for name, run in found.items()}
        return found
    steps = importlib.import_module("with_" + framework).steps(workload, size, mode, batch)
    # Steps that are done many at once have a run of their own.
    return {name: getattr(step, "run", None) or looped(step, adapter.synchronize, each) for name, step in steps.items()}


def waited(run, synchronize):
    """Return a run that waits for each step."""
    return looped(lambda *batch: run([batch]), synchronize, each=True)


def kernels(framework, mode, workload, size, batch, parameters, adapter, checkout):
    """Return the module of public kernels, and their ``{name: run}``."""
    if workload in pyhpc.KERNELS:
        return pyhpc, pyhpc.runs(framework, workload, size, mode, batch, adapter.put, checkout)
    if importlib.util.find_spec("kernels_" + framework) is None:
        return None, {}
    module = importlib.import_module("kernels_" + framework)
    return module, module.runs(workload, size, mode, batch, parameters)


class Prepared(NamedTuple):
    """What may be timed: ours, and the public ones that do not differ from it; nothing where one of both is missing."""

    adapter: Any
    batch: Any
    runs: dict[str, Any]
    #: Seconds of a sample: a run that has a cost beside its steps, as a call of Keras' ``fit`` has, gets longer ones.
    sample_s: float
    #: How the other public ones differ.
    differing: dict[str, str]


def prepare(framework, mode, workload, size_name, checkout="", form="*"):
    """Build ours and the public ones whose names match ``form``, and compare them."""
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", "float32", THREADS)
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    drawn, batches, _ = parity.draw(specification, size, comparison.SEED)
    parameters = {name: adapter.put(array) for name, array in drawn.items()}
    batch = tuple(adapter.put(array) for array in batches[0])
    each = adapter.settings().get("dispatch") != "inline"
    make = functools.partial(ours, framework, adapter, mode, workload, size, batch, parameters, each)
    missing = Prepared(adapter, batch, {}, SAMPLE_S, {})
    try:
        program = make()
    except Unsupported:
        return missing
    module, found = kernels(framework, mode, workload, size, batch, parameters, adapter, checkout)
    if not found:
        # The steps of training need each other, so waiting for the last is waiting for all.
        waits = each and not specification.TRAINING and framework not in WAITING
        found = networks(framework, mode, workload, size, batch, adapter, waits)
        found = {name: run for name, run in found.items() if fnmatch.fnmatch(name, form)}
        outputs = program.step(*batch)
        # Op by op our training gives its state, too, to be waited for.
        outputs = {"loss": outputs["loss"]} if specification.TRAINING else outputs
        differing = comparison.differing_forms(outputs, found, batch) if found else {}
    elif workload in pyhpc.UNCOMPARED:
        differing = {}
    else:
        precision = BUILT_IN.facts(framework).mode(mode).computes_in or "float32"
        reference = comparison.Reference(specification, size, adapter, precision)
        try:
            reference.verify(program)
        except Unsupported:
            # What TensorFlow Lite leaves in float32 is known only when it is converted.
            return missing
        if mode == "jit-loop":
            # It holds the batches that it was given, and takes them in that order only.
            program = make()
        found = {name: run for name, run in found.items() if fnmatch.fnmatch(name, form)}
        differing = comparison.differing_kernels(reference, found, module.OUTPUTS)
    runs = {name: run for name, run in found.items() if name not in differing}
    sample_s = LONG_SAMPLE_S if program.starts else SAMPLE_S
    return Prepared(adapter, batch, {"ours": program.run, **runs} if runs else {}, sample_s, differing)


def warm(run, synchronize, batch):
    """Do steps, and return how many were done at once: one where a step is slow."""
    for _ in range(2):
        step_s = time_s(run, synchronize, [batch])
    if step_s > SLOW_STEP_S:
        return 1
    time_s(run, synchronize, [batch] * WARM_STEPS)
    return WARM_STEPS


def main(framework, mode, workload, size_name, turns, checkout="", form="*"):
    # As in a worker: otherwise chance decides whose arrays are returned to the system after every step.
    settle_allocator()
    adapter, batch, runs, sample_s, differing = prepare(framework, mode, workload, size_name, checkout, form)
    counts = {}
    warmed = {name: warm(run, adapter.synchronize, batch) for name, run in runs.items()}
    if hasattr(adapter, "settle"):
        # As a worker does after the first call: what compiled ends, and nothing looks at graphs any more.
        try:
            adapter.settle()
        except Unsupported:
            return {"times": {}, "differing": {}, "versions": {}}
    for name, run in runs.items():
        counts[name] = min(10, warmed[name])
        # The second time for those whose calls cost as much as many steps.
        for _ in range(2 if sample_s == LONG_SAMPLE_S else 1):
            taken_s = time_s(run, adapter.synchronize, [batch] * counts[name])
            counts[name] = max(1, round(counts[name] * sample_s / taken_s))
    found = {name: [] for name in runs}
    orders = itertools.cycle((list(runs), list(runs)[::-1]))
    for _ in range(int(turns)):
        for name in next(orders):
            time_s(runs[name], adapter.synchronize, [batch] * min(warmed[name], max(3, counts[name] // 10)))
            found[name].append(time_s(runs[name], adapter.synchronize, [batch] * counts[name]) / counts[name])
    return {"times": found, "differing": differing, "versions": adapter.versions()}


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    print("\n" + json.dumps(main(*sys.argv[1:])))
