"""Makes the programs that JAX's users write for inference: pure functions of parameters and a batch."""

from __future__ import annotations

import jax

from ...program import Program, Unsupported
from .. import halves
from ..forms import given
from . import dispatch, parallel
from .compiler import JITTED


def inference(function, parameters, transform, layout=None, attention=None):
    """Make the program of ``function(parameters, *batch) -> {name: array}``; parameters are an argument.

    ``layout`` is that of the function's convolutions, if it has any: NHWC or NCHW. ``attention`` is the form of its
    attention: fused or composed.
    """
    if transform.mode == "jit-loop":
        raise Unsupported("mode jit-loop joins training steps, each of which needs the one before; use jit")
    if transform.mode in parallel.MODES:
        halves.verify_program(transform.mode, training=False)
    # Steps of inference do not need each other, and overlapping ones would not show how long one takes.
    waits = dispatch.overlaps()
    found = {"synchronised": "every step"} if waits else {}
    found.update(given(layout=layout, attention=attention))
    transformed = transform(function, settings=lambda: found)
    wait = one_ready if transform.mode in JITTED else jax.block_until_ready

    def run(batches):
        for batch in batches:
            outputs = transformed(parameters, *batch)
        return outputs

    def run_waiting(batches):
        for batch in batches:
            outputs = transformed(parameters, *batch)
            wait(outputs)
        return outputs

    return Program(lambda *batch: transformed(parameters, *batch), run=run_waiting if waits else run)


def one_ready(outputs):
    """Wait for one array: all that an executable computes is ready at once."""
    next(iter(outputs.values())).block_until_ready()
