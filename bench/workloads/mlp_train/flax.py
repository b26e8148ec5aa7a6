"""Implements mlp-train in Flax: Linear layers of nnx, Dense layers of linen."""

from __future__ import annotations

import jax
from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, layer_type, training
from . import OPTIMIZER, widths


class Perceptron(nnx.Module):
    def __init__(self, shape, dtype, rngs):
        self.count = len(shape) - 1
        for index in range(self.count):
            setattr(self, "dense%d" % index, nnx.Linear(shape[index], shape[index + 1], dtype=dtype, rngs=rngs))

    def __call__(self, hidden):
        for index in range(self.count):
            hidden = getattr(self, "dense%d" % index)(hidden)
            if index < self.count - 1:
                hidden = jax.nn.relu(hidden)
        return hidden


class LinenPerceptron(linen.Module):
    shape: tuple
    dtype: object

    @linen.compact
    def __call__(self, hidden):
        last = len(self.shape) - 2
        for index in range(last + 1):
            hidden = linen.Dense(self.shape[index + 1], dtype=self.dtype, name="dense%d" % index)(hidden)
            if index < last:
                hidden = linen.relu(hidden)
        return hidden


def build(size, parameters, batch, transform):
    shape, dtype = tuple(widths(size)), layer_type(transform)
    models = {"nnx": lambda rngs: Perceptron(shape, dtype, rngs), "linen": LinenPerceptron(shape, dtype)}
    paths = {name: ("dense" + name[-1], KINDS[name[:-1]]) for name in parameters}
    return training(models, paths, parameters, transform, OPTIMIZER)
