"""Specifies optimizer-step-sgd: one step of SGD with momentum for many tensors, whose gradients are given."""

from __future__ import annotations

from ..optimizer_step import (
    GIVEN_GRADIENTS,
    ITEM,
    PRECISIONS,
    SIZES,
    TRAINING,
    batch,
    elements,
    items,
    loss,
    parameters,
)

__all__ = ["GIVEN_GRADIENTS", "ITEM", "PRECISIONS", "SIZES", "TRAINING", "batch", "items", "loss", "parameters"]

OPTIMIZER = {"name": "sgd", "learning_rate": 0.05, "momentum": 0.9}


def useful_flops(size):
    """Count 4 operations for each element: two of the velocity and two of the update."""
    return 4.0 * elements(size)


def compulsory_bytes(size, itemsize):
    """Count parameters and velocities read and written once, and gradients read once."""
    return 5.0 * itemsize * elements(size)
