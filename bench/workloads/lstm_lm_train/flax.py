"""Implements lstm-lm-train in Flax: RNN of nnx and of linen around cells that get the inputs of all steps projected.

OptimizedLSTMCell projects its input in every step, and its gates have biases, which the specification lacks.
"""

from __future__ import annotations

import jax.numpy as jnp
from flax import linen, nnx

from ...frameworks.flax.adapter import layer_type, training
from ...frameworks.jax.losses import wide
from . import OPTIMIZER
from .jax import update


def stepped(cell, gates):
    """Return what a cell carries on, and its output, after a step whose gates have these inputs."""
    carried = update(cell, gates)
    return carried, carried[1]


class Cell(nnx.RNNCellBase):
    num_feature_axes = 1

    def __init__(self, width, dtype, rngs):
        self.state = nnx.Linear(width, 4 * width, use_bias=False, dtype=dtype, rngs=rngs)

    def __call__(self, carried, projected):
        cell, hidden = carried
        return stepped(cell, projected + self.state(hidden))


class LinenCell(linen.RNNCellBase):
    width: int
    dtype: object
    num_feature_axes = 1

    @linen.compact
    def __call__(self, carried, projected):
        cell, hidden = carried
        state = linen.Dense(4 * self.width, use_bias=False, dtype=self.dtype, name="state")
        return stepped(cell, projected + state(hidden))


def flat(layer, inputs):
    """Apply a dense layer with one axis for sequence and batch: two are slower, as in JAX."""
    return layer(inputs.reshape(-1, inputs.shape[-1])).reshape(*inputs.shape[:-1], -1)


def predict(embed, layers, dense, bias, tokens):
    """Compute logits; ``layers`` are pairs of a projection and a recurrence, whose first axis is the sequence.

    The bias is added in float32, as in JAX.
    """
    hidden = embed(tokens.T)
    zeros = jnp.zeros(hidden.shape[1:], hidden.dtype)
    for project, recur in layers:
        hidden = recur(flat(project, hidden), initial_carry=(zeros, zeros))
    return wide(flat(dense, hidden.swapaxes(0, 1))) + bias


class LanguageModel(nnx.Module):
    def __init__(self, size, dtype, rngs):
        width, vocabulary = size["width"], size["vocabulary"]
        self.count = size["layers"]
        self.embed = nnx.Embed(vocabulary, width, dtype=dtype, rngs=rngs)
        for index in range(self.count):
            project = nnx.Linear(width, 4 * width, use_bias=False, dtype=dtype, rngs=rngs)
            setattr(self, "input%d" % index, project)
            setattr(self, "layer%d" % index, nnx.RNN(Cell(width, dtype, rngs), time_major=True, rngs=False))
        self.dense = nnx.Linear(width, vocabulary, use_bias=False, dtype=dtype, rngs=rngs)
        self.bias = nnx.Param(jnp.zeros(vocabulary))

    def __call__(self, tokens):
        pairs = [[getattr(self, kind + str(index)) for kind in ("input", "layer")] for index in range(self.count)]
        return predict(self.embed, pairs, self.dense, self.bias[...], tokens)


class LinenLanguageModel(linen.Module):
    size: dict
    dtype: object

    @linen.compact
    def __call__(self, tokens):
        width, vocabulary = self.size["width"], self.size["vocabulary"]
        pairs = []
        for index in range(self.size["layers"]):
            project = linen.Dense(4 * width, use_bias=False, dtype=self.dtype, name="input%d" % index)
            # Without a parent, the cell is a part of the layer.
            cell = LinenCell(width, self.dtype, parent=None)
            pairs.append((project, linen.RNN(cell, time_major=True, name="layer%d" % index)))
        embed = linen.Embed(vocabulary, width, dtype=self.dtype, name="embed")
        dense = linen.Dense(vocabulary, use_bias=False, dtype=self.dtype, name="dense")
        return predict(embed, pairs, dense, self.param("bias", linen.initializers.zeros, (vocabulary,)), tokens)


def build(size, parameters, batch, transform):
    dtype = layer_type(transform)
    models = {"nnx": lambda rngs: LanguageModel(size, dtype, rngs), "linen": LinenLanguageModel(size, dtype)}
    paths = {"embedding": ("embed", "embedding"), "dense.weight": ("dense", "kernel"), "dense.bias": ("bias",)}
    for index in range(size["layers"]):
        paths["layer%d.input" % index] = ("input%d" % index, "kernel")
        paths["layer%d.state" % index] = ("layer%d" % index, "cell", "state", "kernel")
    return training(models, paths, parameters, transform, OPTIMIZER)
