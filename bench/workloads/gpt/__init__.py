"""Specifies gpt: inference of a causal language model on whole sequences, which gives the logits of every position."""

from __future__ import annotations

from .. import gpt_train, transformer
from ..serving import serving_sizes
from ..transformer_train import batch as batch_and_targets
from ..transformer_train import items, parameters, predict

__all__ = ["items", "parameters"]

ITEM = "token"
SIZES = {**gpt_train.SIZES, **serving_sizes(gpt_train.SIZES["small"])}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
TRAINING = False


def batch(size, random, source=None):
    """Draw uniform int32 tokens (batch, sequence)."""
    return batch_and_targets(size, random)[:1]


def reference(size, parameters, batch):
    """Compute the logits (batch, sequence, vocabulary) in the dtype of ``parameters``."""
    return {"logits": predict(size, parameters, batch[0])}


def useful_flops(size):
    """Count the FLOPs of the matrix products, without masked pairs of the attention."""
    return transformer.forward_flops(size, causal=True) + 2.0 * items(size) * size["width"] * size["vocabulary"]


def compulsory_bytes(size, itemsize):
    """Count parameters and int32 tokens read and logits written once."""
    numbers = transformer.parameter_count(size) + (size["vocabulary"] + size["sequence"]) * size["width"]
    return float(itemsize) * (numbers + items(size) * size["vocabulary"]) + 4 * items(size)
