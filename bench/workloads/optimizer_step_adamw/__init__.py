"""Specifies optimizer-step-adamw: one step of AdamW for many tensors, whose gradients are given."""

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

OPTIMIZER = {"name": "adamw", "learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.1}


def useful_flops(size):
    """Count 14 operations for each element: three and four of the moments, five of the update, two of the decay."""
    return 14.0 * elements(size)


def compulsory_bytes(size, itemsize):
    """Count parameters and two moments read and written once, and gradients read once."""
    return 7.0 * itemsize * elements(size)
