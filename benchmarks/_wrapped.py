"""Times our ``run`` and the bare loop around the same transformed function in turns, inside an environment.

    python _wrapped.py FRAMEWORK MODE WORKLOAD SIZE TURNS

It prints one line of JSON. Time is the CPU time of the process: it leaves out what other programs did meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
import time

from bench.program import Transform
from bench.registry import BUILT_IN
from bench.worker.checking import parity
from bench.worker.timing.timed_program import run_of

SAMPLE_S = 0.01


class Recorded(Transform):
    """A transform that keeps the function it was given and what became of it."""

    def __call__(self, function, **options):
        self.function, self.options = function, options
        self.transformed = super().__call__(function, **options)
        return self.transformed


def torch_loop(transform, specification, parameters):
    import torch

    transformed, module = transform.transformed, transform.function
    if not specification.TRAINING:

        def infer(batches):
            with torch.inference_mode():
                for batch in batches:
                    outputs = transformed(*batch)
            return outputs

        return infer
    if transform.part == "step":

        def train_whole(batches):
            for batch in batches:
                loss = transformed(*batch)
            return loss

        return train_whole
    rate = specification.OPTIMIZER["learning_rate"]
    try:
        optimizer = torch.optim.SGD(module.parameters(), lr=rate, fused=True)
    except TypeError:
        optimizer = torch.optim.SGD(module.parameters(), lr=rate)

    def train(batches):
        for batch in batches:
            optimizer.zero_grad(set_to_none=True)
            loss = transformed(*batch)
            loss.backward()
            optimizer.step()
        return loss

    return train


def jax_loop(transform, specification, parameters):
    import jax
    import optax

    transformed = transform.transformed
    if not specification.TRAINING:

        def infer(batches):
            for batch in batches:
                outputs = transformed(parameters, *batch)
                if transform.mode == "jit-async":
                    jax.block_until_ready(outputs)
            return jax.block_until_ready(outputs)

        return infer
    optimizer = optax.sgd(specification.OPTIMIZER["learning_rate"])
    own = [jax.numpy.copy(parameters[name]) for name in sorted(parameters)]
    kept = [(own, optimizer.init(own), {})]

    def train(batches):
        state = kept[0]
        for batch in batches:
            state, loss = transformed(state, *batch)
        kept[0] = state
        return jax.block_until_ready(loss)

    return train


def tensorflow_loop(transform, specification, parameters):
    """Loop over a function of a user's own, which returns tensors without names; op by op over what ours calls."""
    import tensorflow as tf

    def unnamed(*batch):
        found = transform.function(*batch)
        if isinstance(found, dict):
            (found,) = found.values()
        return found

    if transform.mode == "eager":
        transformed = transform.function
    else:
        transformed = tf.function(unnamed, jit_compile=transform.mode == "xla")

    def loop(batches):
        for batch in batches:
            outputs = transformed(*batch)
        return outputs

    return loop


LOOPS = {"torch": torch_loop, "jax": jax_loop, "tensorflow": tensorflow_loop}


def cpu_s(loop, batches):
    start = time.process_time()
    loop(batches)
    return (time.process_time() - start) / len(batches)


def main(framework, mode, workload, size_name, turns):
    adapter = BUILT_IN.adapter(framework).Adapter(mode, "cpu", "float32", int(os.environ["OMP_NUM_THREADS"]))
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES[size_name]
    drawn, drawn_batches, _ = parity.draw(specification, size, 1)
    parameters = {name: adapter.put(array) for name, array in drawn.items()}
    rotation = [tuple(adapter.put(array) for array in batch) for batch in drawn_batches]
    transform = Recorded.of(BUILT_IN.facts(framework).mode(mode), adapter.transform)
    program = BUILT_IN.implementation(workload, framework)(size, parameters, rotation[0], transform)
    run, _ = run_of(program, adapter, "cpu")
    loops = (lambda batches: adapter.synchronize(run(batches)), LOOPS[framework](transform, specification, parameters))
    for loop in loops:
        loop(rotation * 8)
    steps = max(1, round(SAMPLE_S / min(cpu_s(loops[1], rotation * 4) for _ in range(5)) / len(rotation)))
    times = [[], []]
    for turn in range(int(turns)):
        for side in (0, 1) if turn % 2 else (1, 0):
            times[side].append(cpu_s(loops[side], rotation * steps))
    return {"ours_s": times[0], "bare_s": times[1]}


if __name__ == "__main__":
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(os.environ["OMP_NUM_THREADS"])])
    print("\n" + json.dumps(main(*sys.argv[1:])))
