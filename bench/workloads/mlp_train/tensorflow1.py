"""Implements mlp-train as a graph of TensorFlow, from the loss that TensorFlow 2.x has."""

from __future__ import annotations

from ...frameworks.tensorflow1.adapter import training
from . import OPTIMIZER
from .tensorflow import loss


def build(size, parameters, batch, transform):
    return training(loss, parameters, transform, OPTIMIZER)
