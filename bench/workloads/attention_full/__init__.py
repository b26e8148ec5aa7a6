"""Specifies attention-full: softmax attention of long sequences, each position of which sees all of them."""

from __future__ import annotations

from ..long_attention import ITEM, PRECISIONS, SIZES, TRAINING, batch, compulsory_bytes, flops, items, mixed, parameters

__all__ = ["ITEM", "PRECISIONS", "SIZES", "TRAINING", "batch", "compulsory_bytes", "items", "parameters"]

CAUSAL = False


def reference(size, parameters, batch):
    """Compute the mixed values (batch, heads, sequence, width) in the dtype of ``batch``."""
    return mixed(batch, CAUSAL)


def useful_flops(size):
    """Count two products over the width for each pair of positions that sees the other."""
    return flops(size, CAUSAL)
