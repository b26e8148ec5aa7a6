"""Specifies branch-where: the perceptron of branch-if, of which both branches are computed and one is selected."""

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
