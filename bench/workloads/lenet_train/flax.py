"""Implements lenet-train in Flax: convolutional and dense layers of nnx and of linen, in NHWC."""

from __future__ import annotations

import jax
from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, layer_type, training
from .. import cnn
from . import OPTIMIZER


def pool(hidden):
    """Pool 2 by 2 by a maximum over reshaped axes, whose gradient is faster on a processor than that of max_pool."""
    count, height, width, channels = hidden.shape
    rows, columns = height // 2, width // 2
    return hidden[:, : 2 * rows, : 2 * columns].reshape(count, rows, 2, columns, 2, channels).max(axis=(2, 4))


def predict(layers, hidden):
    """Apply layers, given as [(kind, function)]."""
    last = len(layers) - 1
    for index, (kind, layer) in enumerate(layers):
        if kind == "dense" and hidden.ndim > 2:
            hidden = hidden.reshape(len(hidden), -1)
        hidden = layer(hidden)
        if index < last:
            hidden = jax.nn.relu(hidden)
        if kind == "conv":
            hidden = pool(hidden)
    return hidden


class Network(nnx.Module):
    """A network of the parameters' shapes, {layer: shape of its weight}."""

    def __init__(self, shapes, dtype, rngs):
        self.names = tuple(shapes)
        for name, shape in shapes.items():
            if name.startswith("conv"):
                layer = nnx.Conv(shape[2], shape[3], shape[:2], padding="VALID", dtype=dtype, rngs=rngs)
            else:
                layer = nnx.Linear(*shape, dtype=dtype, rngs=rngs)
            setattr(self, name, layer)

    def __call__(self, images):
        return predict([(name[:-1], getattr(self, name)) for name in self.names], images)


class LinenNetwork(linen.Module):
    """The same of linen; ``shapes`` are pairs, which can be hashed."""

    shapes: tuple
    dtype: object

    @linen.compact
    def __call__(self, images):
        layers = []
        for name, shape in self.shapes:
            if name.startswith("conv"):
                layer = linen.Conv(shape[3], shape[:2], padding="VALID", dtype=self.dtype, name=name)
            else:
                layer = linen.Dense(shape[1], dtype=self.dtype, name=name)
            layers.append((name[:-1], layer))
        return predict(layers, images)


def train(parameters, transform, optimizer):
    """Make the program of a network of blocks and dense layers, see ``cnn``."""
    names = [*cnn.numbered(parameters, "conv"), *cnn.numbered(parameters, "dense")]
    shapes = {name: parameters[name + "_weight"].shape for name in names}
    dtype = layer_type(transform)
    models = {"nnx": lambda rngs: Network(shapes, dtype, rngs), "linen": LinenNetwork(tuple(shapes.items()), dtype)}
    paths = {name: (name.split("_")[0], KINDS[name.split("_")[1]]) for name in parameters}
    return training(models, paths, parameters, transform, optimizer, layout="NHWC")


def build(size, parameters, batch, transform):
    return train(parameters, transform, OPTIMIZER)
