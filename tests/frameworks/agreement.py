"""Runs inside an environment, through server.py: checks what timed samples run.

A workload's program does its steps in one ``run`` of several batches, and its outputs are compared with float64. It
returns {workload: [largest error as a share of what is allowed, its settings], or why there is none}. A workload is
checked at size ``check`` in float32, or otherwise as ``workload/size`` or ``workload/size/precision``.
"""

from __future__ import annotations

import json
import os

from bench.program import Transform, Unsupported
from bench.registry import BUILT_IN
from bench.worker.checking import parity, tolerance
from bench.worker.timing.stopwatch import looped

THREADS = int(os.environ["OMP_NUM_THREADS"])
SEED = 1


def share_of_allowed(framework, mode, reference, workload, size_name="check", precision="float32"):
    """Return the largest error of a workload's outputs as a share of what is allowed, and the settings in force.

    ``reference`` is the path of the float64 reference at this size.
    """
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    drawn, drawn_batches, _ = parity.draw(specification, size, SEED)
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", precision, THREADS)
    batches = [tuple(adapter.put(array) for array in batch) for batch in drawn_batches]
    build = BUILT_IN.implementation(workload, framework)
    facts = BUILT_IN.facts(framework).mode(mode)
    transform = Transform.of(facts, adapter.transform, precision)
    program = build(size, {name: adapter.put(array) for name, array in drawn.items()}, batches[0], transform)
    run = program.run or looped(program.step, adapter.synchronize, each=True)
    # A turn: other batches before, then a reset.
    adapter.synchronize(run(batches))
    initial = dict(drawn, **parity.initial_state(specification, size))
    outputs = parity.program_outputs(program._replace(step=lambda *batch: run([batch])), batches, adapter.get, initial)
    computed = facts.computes_in or precision
    found = parity.compare(
        outputs, reference, parity.digest(drawn, drawn_batches), computed, tolerance.TOLERANCE_FACTOR
    )
    # As a session does before it times anything.
    getattr(adapter, "settle", lambda: None)()
    if program.reset is not None:
        agree_on_parameters(program, run, batches, adapter)
    settings = adapter.settings()
    if program.close is not None:
        program.close()
    return [max(entry["error"] / entry["allowed"] for entry in found.values()), settings]


def agree_on_parameters(program, run, batches, adapter):
    """Compare the parameters after one run of several steps with those after as many single steps."""
    found = []
    for whole in (True, False):
        program.reset()
        for given in [batches[:3]] if whole else [[batch] for batch in batches[:3]]:
            adapter.synchronize(run(given))
        found.append({name: adapter.get(value).copy() for name, value in program.parameters().items()})
    for name, value in found[0].items():
        error = parity.relative_error(value, found[1][name])
        assert error < 1e-5, f"{name}: {error}"


def main(framework, mode, references):
    """Check workloads; ``references`` is {workload: path of its reference} as JSON."""
    found = {}
    for name, reference in json.loads(references).items():
        chosen = name.split("/")
        if BUILT_IN.has_implementation(chosen[0], framework):
            try:
                found[name] = share_of_allowed(framework, mode, reference, *chosen)
            except Unsupported as error:
                found[name] = str(error)
    return found
