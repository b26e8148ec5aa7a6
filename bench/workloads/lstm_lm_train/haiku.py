"""Implements lstm-lm-train in Haiku: a core of ours, unrolled by hk.dynamic_unroll.

hk.LSTM multiplies the input of each step within the loop, and has a bias that the specification lacks. The core gets
inputs that are projected before the loop, for all steps at once.
"""

from __future__ import annotations

import haiku as hk
import jax.numpy as jnp

from ...frameworks.haiku.adapter import training
from ...frameworks.jax.losses import wide
from . import OPTIMIZER
from .jax import update


class Core(hk.RNNCore):
    """A step of the layer, from its projected inputs (batch, 4 · width)."""

    def __init__(self, width, name):
        super().__init__(name=name)
        self.width = width

    def __call__(self, projected, state):
        cell, hidden = state
        cell, hidden = update(cell, projected + hk.Linear(4 * self.width, with_bias=False, name="state")(hidden))
        return hidden, (cell, hidden)

    def initial_state(self, count, dtype):
        return (jnp.zeros((count, self.width), dtype),) * 2


def build(size, parameters, batch, transform):
    count, width, vocabulary = size["batch"], size["width"], size["vocabulary"]
    layers = ["layer%d" % index for index in range(size["layers"])]

    def predict(tokens):
        hidden = hk.Embed(vocabulary, width, name="embedding")(tokens.T)
        for name in layers:
            core = Core(width, name=name)
            projected = hk.BatchApply(hk.Linear(4 * width, with_bias=False, name=name + "_input"))(hidden)
            hidden, _ = hk.dynamic_unroll(core, projected, core.initial_state(count, projected.dtype))
        logits = hk.BatchApply(hk.Linear(vocabulary, with_bias=False, name="dense"))(hidden.swapaxes(0, 1))
        # In float32, as in JAX.
        return wide(logits) + wide(hk.get_parameter("bias", [vocabulary], init=jnp.zeros))

    paths = {"embedding": ("embedding", "embeddings"), "dense.weight": ("dense", "w"), "dense.bias": ("~", "bias")}
    for name in layers:
        paths[name + ".input"], paths[name + ".state"] = (name + "_input", "w"), (name + "/state", "w")
    return training(predict, paths, parameters, transform, OPTIMIZER)
