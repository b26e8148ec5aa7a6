"""Specifies stencil-unrolled: the iterations of stencil, up to ten in each turn of the loop."""

from __future__ import annotations

from ..stencil import (
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
