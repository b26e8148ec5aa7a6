"""Specifies what attention-full and attention-causal share: queries, keys and values of long sequences are inputs."""

from __future__ import annotations

import numpy as np

from . import attention

ITEM = "query"
SIZES = {
    "check": {"batch": 2, "heads": 2, "sequence": 8, "width": 4},
    "tiny": {"batch": 1, "heads": 4, "sequence": 128, "width": 32},
    "small": {"batch": 1, "heads": 8, "sequence": 1024, "width": 64},
    "medium": {"batch": 1, "heads": 4, "sequence": 4096, "width": 64},
    "large": {"batch": 1, "heads": 16, "sequence": 4096, "width": 128},
}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
TRAINING = False
#: How implementations name their attention where they compute ``blocks``.
IN_BLOCKS = "composed, in blocks"


def parameters(size, random):
    """Draw nothing: queries, keys and values are inputs."""
    return {}


def batch(size, random, source=None):
    """Draw queries, keys and values (batch, heads, sequence, width), standard normal."""
    shape = (size["batch"], size["heads"], size["sequence"], size["width"])
    return tuple(random.standard_normal(shape).astype(np.float32) for _ in range(3))


def blocks(sequence, block, causal):
    """Divide the queries into blocks, for composed attention: list their first positions, ends, and the keys they see.

    A causal block leaves out the keys after its end. Sequences that are no multiple of ``block`` are one block.
    """
    block = block if sequence % block == 0 else sequence
    ends = range(block, sequence + 1, block)
    return [(end - block, end, end if causal else sequence) for end in ends]


def mixed(batch, causal):
    return {"mixed": attention.attention(*batch, causal=causal)}


def items(size):
    return size["batch"] * size["heads"] * size["sequence"]


def flops(size, causal):
    seen = (size["sequence"] + 1) / 2 if causal else size["sequence"]
    return 4.0 * items(size) * seen * size["width"]


def compulsory_bytes(size, itemsize):
    """Count queries, keys and values read and the mixed values written once; a fused kernel keeps no scores."""
    return 4.0 * itemsize * items(size) * size["width"]
