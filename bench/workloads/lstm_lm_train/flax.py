"""Implements lstm-lm-train in Flax: RNN of nnx around its OptimizedLSTMCell, and of linen around a cell like that one.

The optimized cell of linen has biases that the specification lacks, and joins the matrices of its gates in every step.
"""

from __future__ import annotations

import jax.numpy as jnp
from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, training
from . import OPTIMIZER

#: {what a specification's name ends with: the dense layer of a cell}.
DENSE = {"input": "dense_i", "state": "dense_h"}


def predict(layers, embed, dense, tokens):
    """Compute the logits of the next tokens; the layers have the sequence as their first axis."""
    hidden = embed(tokens.T)
    zeros = jnp.zeros(hidden.shape[1:], hidden.dtype)
    for layer in layers:
        hidden = layer(hidden, initial_carry=(zeros, zeros))
    return dense(hidden.swapaxes(0, 1))


class LanguageModel(nnx.Module):
    def __init__(self, size, rngs):
        width = size["width"]
        self.embed = nnx.Embed(size["vocabulary"], width, rngs=rngs)
        self.names = tuple("layer%d" % index for index in range(size["layers"]))
        for name in self.names:
            cell = nnx.OptimizedLSTMCell(width, width, rngs=rngs)
            # In place of one with a bias.
            cell.dense_h = nnx.Linear(width, 4 * width, use_bias=False, rngs=rngs)
            setattr(self, name, nnx.RNN(cell, time_major=True, rngs=False))
        self.dense = nnx.Linear(width, size["vocabulary"], rngs=rngs)

    def __call__(self, tokens):
        return predict([getattr(self, name) for name in self.names], self.embed, self.dense, tokens)


class LinenCell(linen.RNNCellBase):
    width: int
    num_feature_axes = 1

    @linen.compact
    def __call__(self, carried, inputs):
        cell, hidden = carried
        project, recur = (linen.Dense(4 * self.width, use_bias=False, name=name) for name in DENSE.values())
        entered, kept, new, shown = jnp.split(project(inputs) + recur(hidden), 4, axis=-1)
        cell = linen.sigmoid(kept) * cell + linen.sigmoid(entered) * linen.tanh(new)
        hidden = linen.sigmoid(shown) * linen.tanh(cell)
        return (cell, hidden), hidden


class LinenLanguageModel(linen.Module):
    size: dict

    @linen.compact
    def __call__(self, tokens):
        width, vocabulary = self.size["width"], self.size["vocabulary"]
        layers = [
            linen.RNN(LinenCell(width, parent=None), time_major=True, name="layer%d" % index)
            for index in range(self.size["layers"])
        ]
        return predict(layers, linen.Embed(vocabulary, width, name="embed"), linen.Dense(vocabulary, name="dense"), tokens)


def build(size, parameters, batch, transform):
    models = {"nnx": lambda rngs: LanguageModel(size, rngs), "linen": LinenLanguageModel(size)}
    paths = {"embedding": ("embed", "embedding")}
    for name in parameters:
        if name.startswith("layer"):
            place, kind = name.split(".")
            paths[name] = (place, "cell", DENSE[kind], "kernel")
        elif name.startswith("dense"):
            paths[name] = ("dense", KINDS[name.split(".")[1]])
    return training(models, paths, parameters, transform, OPTIMIZER)
