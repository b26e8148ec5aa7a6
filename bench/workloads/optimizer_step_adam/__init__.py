"""Specifies optimizer-step-adam: one step of Adam for many tensors, whose gradients are given."""

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

OPTIMIZER = {"name": "adam", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}


def useful_flops(size):
    """Count 12 operations for each element: three and four of the moments, five of the update."""
    return 12.0 * elements(size)


def compulsory_bytes(size, itemsize):
    """Count parameters and two moments read and written once, and gradients read once."""
    return 7.0 * itemsize * elements(size)
