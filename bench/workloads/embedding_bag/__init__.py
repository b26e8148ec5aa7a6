"""Specifies embedding-bag: sums of rows of a table, as recommendation models look up the features of a user."""

from __future__ import annotations

import numpy as np

from ..transformer import draw

ITEM = "bag"
SIZES = {
    "check": {"words": 32, "width": 4, "batch": 3, "each": 5},
    "tiny": {"words": 1024, "width": 16, "batch": 32, "each": 8},
    "small": {"words": 65536, "width": 64, "batch": 1024, "each": 32},
    "medium": {"words": 1048576, "width": 64, "batch": 4096, "each": 32},
    "large": {"words": 2097152, "width": 64, "batch": 32768, "each": 64},
}
PRECISIONS = ("float32",)
TRAINING = False


def parameters(size, random):
    """Draw a standard normal table (words, width)."""
    return {"table": draw(random, (size["words"], size["width"]), 1.0)}


def batch(size, random, source=None):
    """Draw uniform int32 indices (batch, each)."""
    return (random.randint(0, size["words"], (size["batch"], size["each"])).astype(np.int32),)


def reference(size, parameters, batch):
    """Compute the sums (batch, width) in the dtype of ``parameters``."""
    return {"sums": parameters["table"][batch[0]].sum(axis=1)}


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the additions."""
    return float(size["batch"] * (size["each"] - 1) * size["width"])


def compulsory_bytes(size, itemsize):
    """Count int32 indices read and sums written once; all rows but one could be in a cache."""
    return float(itemsize) * (size["batch"] + 1) * size["width"] + 4 * size["batch"] * size["each"]
