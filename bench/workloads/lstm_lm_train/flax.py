"""Implements lstm-lm-train in Flax: RNN of nnx and of linen around cells that get the inputs of all steps projected.

OptimizedLSTMCell projects its input in every step, and its gates have biases, which the specification lacks.
"""

from __future__ import annotations

import jax.numpy as jnp
from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, training
from . import OPTIMIZER
from .jax import update


def stepped(cell, gates):
    """Return what a cell carries on, and its output, after a step whose gates have these inputs."""
    carried = update(cell, gates)
    return carried, carried[1]


class Cell(nnx.RNNCellBase):
    num_feature_axes = 1

    def __init__(self, width, rngs):
        self.state = nnx.Linear(width, 4 * width, use_bias=False, rngs=rngs)

    def __call__(self, carried, projected):
        cell, hidden = carried
        return stepped(cell, projected + self.state(hidden))


class LinenCell(linen.RNNCellBase):
    width: int
    num_feature_axes = 1

    @linen.compact
    def __call__(self, carried, projected):
        cell, hidden = carried
        return stepped(cell, projected + linen.Dense(4 * self.width, use_bias=False, name="state")(hidden))


def flat(layer, inputs):
    """Apply a dense layer with one axis for sequence and batch: two are slower, as in JAX."""
    return layer(inputs.reshape(-1, inputs.shape[-1])).reshape(*inputs.shape[:-1], -1)


def predict(embed, layers, dense, tokens):
    """Compute logits; ``layers`` are pairs of a projection and a recurrence, whose first axis is the sequence."""
    hidden = embed(tokens.T)
    zeros = jnp.zeros(hidden.shape[1:], hidden.dtype)
    for project, recur in layers:
        hidden = recur(flat(project, hidden), initial_carry=(zeros, zeros))
    return flat(dense, hidden.swapaxes(0, 1))


class LanguageModel(nnx.Module):
    def __init__(self, size, rngs):
        width, vocabulary = size["width"], size["vocabulary"]
        self.count = size["layers"]
        self.embed = nnx.Embed(vocabulary, width, rngs=rngs)
        for index in range(self.count):
            setattr(self, "input%d" % index, nnx.Linear(width, 4 * width, use_bias=False, rngs=rngs))
            setattr(self, "layer%d" % index, nnx.RNN(Cell(width, rngs), time_major=True, rngs=False))
        self.dense = nnx.Linear(width, vocabulary, rngs=rngs)

    def __call__(self, tokens):
        pairs = [[getattr(self, kind + str(index)) for kind in ("input", "layer")] for index in range(self.count)]
        return predict(self.embed, pairs, self.dense, tokens)


class LinenLanguageModel(linen.Module):
    size: dict

    @linen.compact
    def __call__(self, tokens):
        width, vocabulary = self.size["width"], self.size["vocabulary"]
        pairs = []
        for index in range(self.size["layers"]):
            project = linen.Dense(4 * width, use_bias=False, name="input%d" % index)
            # Without a parent, the cell is a part of the layer.
            pairs.append((project, linen.RNN(LinenCell(width, parent=None), time_major=True, name="layer%d" % index)))
        embed, dense = linen.Embed(vocabulary, width, name="embed"), linen.Dense(vocabulary, name="dense")
        return predict(embed, pairs, dense, tokens)


def build(size, parameters, batch, transform):
    models = {"nnx": lambda rngs: LanguageModel(size, rngs), "linen": LinenLanguageModel(size)}
    paths = {"embedding": ("embed", "embedding")}
    paths.update(("dense." + kind, ("dense", KINDS[kind])) for kind in ("weight", "bias"))
    for index in range(size["layers"]):
        paths["layer%d.input" % index] = ("input%d" % index, "kernel")
        paths["layer%d.state" % index] = ("layer%d" % index, "cell", "state", "kernel")
    return training(models, paths, parameters, transform, OPTIMIZER)
