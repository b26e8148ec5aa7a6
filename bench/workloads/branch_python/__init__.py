"""Specifies branch-python: the perceptron of branch-if, with an ``if`` of Python also for compilers."""

from __future__ import annotations

from ..branch_if import (
    ITEM,
    PRECISIONS,
    SIZES,
    TRAINING,
    batch,
    compulsory_bytes,
    items,
    parameters,
    reference,
    useful_flops,
)

__all__ = [
    "ITEM", "PRECISIONS", "SIZES", "TRAINING", "batch", "compulsory_bytes", "items", "parameters", "reference",
    "useful_flops",
]  # fmt: skip
