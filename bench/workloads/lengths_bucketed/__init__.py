"""Specifies lengths-bucketed: the encoder of lengths-exact, with sequences that are padded to powers of two.

There are few shapes, and at most half of a sequence is padding.
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
    """Draw tokens for each length, padded to powers of two, and the lengths."""
    drawn = sequence_lengths.exact(size, random)
    return sequence_lengths.padded(size, drawn, [sequence_lengths.bucket(tokens.shape[1]) for tokens in drawn])
