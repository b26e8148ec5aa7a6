"""Builds our program with some of its functions replaced, inside an environment, and times it on request.

    python _form.py FRAMEWORK MODE WORKLOAD SIZE PRECISION FILE FORM STEPS CLOCK

At the size ``check`` it prints how the program agrees with float64. At other sizes it prints the number of steps of a
sample; then each line that it reads asks for one sample, whose seconds and page faults per step it prints. With
``STEPS`` 0, a sample lasts for ``SAMPLE_S``. ``CLOCK`` names a function of ``time``.
"""

from __future__ import annotations

import os
import resource
import runpy
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from unittest import mock

from bench.cell import MIXED
from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import parity, tolerance
from bench.worker.timing.layout import settle_allocator
from bench.worker.timing.stopwatch import looped

SAMPLE_S = 0.1
#: Steps of an attempt before the first sample, and how long attempts go on at least.
WARM_STEPS, WARM_S = 2, 0.5
SEED = 1
#: Our own program.
PRESENT = "present"
THREADS = int(os.environ["OMP_NUM_THREADS"])


def replacements(path, form):
    """Return the functions of a form, ``{module:name: function}``; the present form has none."""
    if form == PRESENT:
        return {}
    return {target: new for target, new in runpy.run_path(path)["FORMS"][form].items() if ":" in target}


def replace(stack, found):
    """Put functions into their modules until ``stack`` is left."""
    for target, function in found.items():
        module, name = target.split(":")
        stack.enter_context(mock.patch.object(import_module(module), name, function))


def verify(program, specification, size, batches, drawn, adapter, precision):
    """Return the worst share of its allowed error that an output has; raise Mismatch where that is more than 1."""
    factor = getattr(specification, "TOLERANCE_FACTOR", tolerance.TOLERANCE_FACTOR)
    initial = {**drawn, **parity.initial_state(specification, size)}
    outputs = parity.program_outputs(program, batches, adapter.get, initial)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "reference.npz"))
        parity.write_reference(path, specification, size, SEED, mixed=precision == MIXED)
        digest = parity.digest(*parity.draw(specification, size, SEED)[:2])
        found = parity.compare(outputs, path, digest, precision, factor)
    return max(each["error"] / each["allowed"] for each in found.values() if "allowed" in each)


def faults():
    """Return how often this process has touched a page that the kernel then had to provide."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def samples(run, synchronize, rotation, steps, clock):
    """Print the number of steps of a sample, then seconds and page faults per step of one sample for each line read."""

    def time_s(count):
        batches = [rotation[index % len(rotation)] for index in range(count)]
        start = clock()
        synchronize(run(batches))
        return (clock() - start) / count

    first, count = clock(), WARM_STEPS
    step_s = time_s(count)
    while clock() < first + WARM_S:
        count *= 2
        step_s = time_s(count)
    steps = steps or max(1, round(SAMPLE_S / step_s))
    print(steps, flush=True)
    for _ in sys.stdin:
        time_s(max(1, steps // 4))
        before = faults()
        print(time_s(steps), (faults() - before) / steps, flush=True)


def main(framework, mode, workload, size_name, precision, path, form, steps, clock):
    settle_allocator()
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    drawn, batches, _ = parity.draw(specification, size, SEED)
    with ExitStack() as stack:
        replace(stack, replacements(path, form))
        build = BUILT_IN.implementation(workload, framework)
        adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", precision, THREADS)
        parameters = {name: adapter.put(array) for name, array in drawn.items()}
        rotation = [tuple(adapter.put(array) for array in batch) for batch in batches]
        transform = Transform.of(BUILT_IN.facts(framework).mode(mode), adapter.transform, precision)
        try:
            program = build(size, parameters, rotation[0], transform)
            if size_name == "check":
                print(f"{verify(program, specification, size, rotation, drawn, adapter, precision):.2g}")
                return
        except (parity.Mismatch, Unsupported) as error:
            print(f"{type(error).__name__}: {error}")
            return
        each = adapter.settings().get("dispatch") != "inline"
        run = program.run or looped(program.step, adapter.synchronize, each)
        samples(run, adapter.synchronize, rotation, int(steps), getattr(time, clock))


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:THREADS])
    main(*sys.argv[1:])
