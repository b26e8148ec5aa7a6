"""Specifies lengths-exact: an encoder is called with sequences of many lengths, each as long as it is.

A compiler must either compile each length or leave the length open.
"""

from __future__ import annotations

from ..sequence_lengths import (
    ITEM,
    PRECISIONS,
    SIZES,
    TRAINING,
    compulsory_bytes,
    exact,
    items,
    parameters,
    reference,
    useful_flops,
)

__all__ = [
    "ITEM", "PRECISIONS", "SIZES", "TRAINING", "compulsory_bytes", "items", "parameters", "reference", "useful_flops",
]  # fmt: skip

batch = exact
