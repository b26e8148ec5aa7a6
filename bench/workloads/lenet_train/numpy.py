"""Implements lenet-train in NumPy: the specification's own gradients."""

from __future__ import annotations

from ...frameworks.numpy.adapter import reference_training
from . import OPTIMIZER, loss_and_gradients


def build(size, parameters, batch, transform):
    return reference_training(loss_and_gradients, size, parameters, transform, OPTIMIZER)
