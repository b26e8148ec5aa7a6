"""Implements lstm-lm-train in Haiku: hk.LSTM, unrolled by hk.dynamic_unroll.

hk.LSTM has one matrix for input and state, its third gate is the specification's second, and its bias, which the
specification lacks, is not trained: it takes back the 1 that hk.LSTM adds to the forget gate.
"""

from __future__ import annotations

import haiku as hk
import jax.numpy as jnp
import numpy as np

from ...frameworks.haiku.adapter import training
from . import OPTIMIZER


def swapped(weight):
    """Exchange the second and the third gate."""
    first, second, third, last = jnp.split(weight, 4, axis=-1)
    return jnp.concatenate((first, third, second, last), axis=-1)


def build(size, parameters, batch, transform):
    count, width, vocabulary = size["batch"], size["width"], size["vocabulary"]
    layers = ["layer%d" % index for index in range(size["layers"])]

    def predict(tokens):
        hidden = hk.Embed(vocabulary, width, name="embedding")(tokens.T)
        for name in layers:
            core = hk.LSTM(width, name=name)
            hidden, _ = hk.dynamic_unroll(core, hidden, core.initial_state(count))
        return hk.BatchApply(hk.Linear(vocabulary, name="dense"))(hidden.swapaxes(0, 1))

    paths = {"embedding": ("embedding", "embeddings"), "dense.weight": ("dense", "w"), "dense.bias": ("dense", "b")}
    given = {name: parameters[name] for name in paths}
    fixed = {}
    for name in layers:
        paths[name], paths[name + ".bias"] = (name + "/linear", "w"), (name + "/linear", "b")
        given[name] = swapped(jnp.concatenate((parameters[name + ".input"], parameters[name + ".state"])))
        fixed[name + ".bias"] = np.repeat(np.float32([0, 0, -1, 0]), width)
    program = training(predict, paths, given, transform, OPTIMIZER, fixed=fixed)

    def current():
        named = program.parameters()
        for name in layers:
            named[name + ".input"], named[name + ".state"] = jnp.split(swapped(named.pop(name)), 2)
        return named

    return program._replace(parameters=current)
