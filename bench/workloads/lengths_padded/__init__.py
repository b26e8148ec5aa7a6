"""Specifies lengths-padded: the encoder of lengths-exact, with sequences that are all padded to the longest.

Every call has the same shape, and most of the work is padding.
"""

from __future__ import annotations

from .. import sequence_lengths
from ..sequence_lengths import (
    ITEM,
    PRECISIONS,
    SIZES,
    TRAINING,
    compulsory_bytes,
    items,
    parameters,
    reference,
    useful_flops,
)

__all__ = [
    "ITEM", "PRECISIONS", "SIZES", "TRAINING", "compulsory_bytes", "items", "parameters", "reference", "useful_flops",
]  # fmt: skip


def batch(size, random, source=None):
    """Draw tokens for each length, padded to the longest, and the lengths."""
    drawn = sequence_lengths.exact(size, random)
    return sequence_lengths.padded(size, drawn, [size["longest"]] * size["lengths"])
