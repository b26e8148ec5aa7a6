"""Specifies per-sample-gradients-loop: the outputs of per-sample-gradients, by a loop over the rows of a batch."""

from __future__ import annotations

from ..per_sample_gradients import (
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
