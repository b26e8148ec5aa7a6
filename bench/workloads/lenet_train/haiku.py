"""Implements lenet-train in Haiku: convolutional and dense layers in NHWC."""

from __future__ import annotations

import haiku as hk
import jax

from ...frameworks.haiku.adapter import training
from ...frameworks.haiku.programs import KINDS
from .. import cnn
from . import OPTIMIZER


def pool(hidden):
    """Pool 2 by 2 by a maximum over reshaped axes, whose gradient is faster on a processor than that of hk.max_pool."""
    count, height, width, channels = hidden.shape
    rows, columns = height // 2, width // 2
    return hidden[:, : 2 * rows, : 2 * columns].reshape(count, rows, 2, columns, 2, channels).max(axis=(2, 4))


def train(parameters, transform, optimizer):
    """Make the program of a network of blocks and dense layers, see ``cnn``."""
    convolutions, dense = cnn.numbered(parameters, "conv"), cnn.numbered(parameters, "dense")
    shapes = {name: parameters[name + "_weight"].shape for name in (*convolutions, *dense)}

    def predict(hidden):
        for name in convolutions:
            height, width, _, filters = shapes[name]
            hidden = pool(jax.nn.relu(hk.Conv2D(filters, (height, width), padding="VALID", name=name)(hidden)))
        hidden = hk.Flatten()(hidden)
        for name in dense:
            hidden = hk.Linear(shapes[name][1], name=name)(hidden)
            if name != dense[-1]:
                hidden = jax.nn.relu(hidden)
        return hidden

    paths = {name: (name.split("_")[0], KINDS[name.split("_")[1]]) for name in parameters}
    return training(predict, paths, parameters, transform, optimizer, layout="NHWC")


def build(size, parameters, batch, transform):
    return train(parameters, transform, OPTIMIZER)
