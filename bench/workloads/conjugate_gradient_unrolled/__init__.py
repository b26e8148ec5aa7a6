"""Specifies conjugate-gradient-unrolled: the iterations of conjugate-gradient, up to ten in each turn of the loop."""

from __future__ import annotations

from ..conjugate_gradient import (
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
