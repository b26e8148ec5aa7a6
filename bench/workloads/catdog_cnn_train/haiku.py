"""Implements catdog-cnn-train in Haiku: convolutional and dense layers in NHWC."""

from __future__ import annotations

from ..lenet_train.haiku import train
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    return train(parameters, transform, OPTIMIZER)
