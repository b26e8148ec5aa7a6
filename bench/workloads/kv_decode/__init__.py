"""Specifies kv-decode: a causal language model reads a prompt, then token after token, with cached keys and values.

The tokens are given, so that rounding cannot choose other ones. The outputs are the logits after the prompt and after
each token that follows.
"""

from __future__ import annotations

from .. import transformer
from ..transformer_train import batch as batch_and_targets
from ..transformer_train import parameters, predict

__all__ = ["parameters"]

ITEM = "token"
#: ``prompt`` tokens of ``sequence`` are read at once.
SIZES = {
    "check": {"batch": 2, "sequence": 8, "prompt": 5, "width": 16, "heads": 2, "layers": 2, "vocabulary": 32},
    "tiny": {"batch": 1, "sequence": 48, "prompt": 32, "width": 64, "heads": 4, "layers": 2, "vocabulary": 256},
    "small": {"batch": 1, "sequence": 192, "prompt": 128, "width": 256, "heads": 8, "layers": 4, "vocabulary": 2048},
    "medium": {"batch": 8, "sequence": 192, "prompt": 128, "width": 256, "heads": 8, "layers": 4, "vocabulary": 2048},
    "large": {"batch": 1, "sequence": 192, "prompt": 128, "width": 768, "heads": 12, "layers": 12, "vocabulary": 50257},
}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
TRAINING = False


def batch(size, random, source=None):
    """Draw uniform int32 tokens (batch, sequence)."""
    return batch_and_targets(size, random)[:1]


def reference(size, parameters, batch):
    """Compute the logits (batch, 1 + tokens after the prompt, vocabulary) in the dtype of ``parameters``.

    It reads all tokens at once: with a causal mask, that is the same.
    """
    return {"logits": predict(size, parameters, batch[0])[:, size["prompt"] - 1 :]}


def positions(size):
    """Count the positions whose logits are computed."""
    return size["batch"] * (size["sequence"] - size["prompt"] + 1)


def items(size):
    return size["batch"] * (size["sequence"] - size["prompt"])


def useful_flops(size):
    """Count the FLOPs of the matrix products, without masked pairs of the attention."""
    return transformer.forward_flops(size, causal=True) + 2.0 * positions(size) * size["width"] * size["vocabulary"]


def compulsory_bytes(size, itemsize):
    """Count parameters read once, as a cache may keep them, int32 tokens read and logits written once."""
    numbers = transformer.parameter_count(size) + (size["vocabulary"] + size["sequence"]) * size["width"]
    tokens = size["batch"] * size["sequence"]
    return float(itemsize) * (numbers + positions(size) * size["vocabulary"]) + 4 * tokens
