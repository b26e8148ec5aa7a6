"""Implements catdog-cnn-train in Flax: convolutional and dense layers of nnx and of linen, in NHWC."""

from __future__ import annotations

from ..lenet_train.flax import train
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    return train(parameters, transform, OPTIMIZER)
