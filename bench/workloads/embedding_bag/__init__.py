"""Specifies embedding-bag: sums of rows of a table, as recommendation models look up the features of a user."""

from __future__ import annotations

import numpy as np

from ..transformer import draw

ITEM = "bag"
SIZES = {
    "check": {"rows": 32, "width": 4, "bags": 3, "each": 5},
    "tiny": {"rows": 1024, "width": 16, "bags": 32, "each": 8},
    "small": {"rows": 65536, "width": 64, "bags": 1024, "each": 32},
    "medium": {"rows": 1048576, "width": 64, "bags": 4096, "each": 32},
}
PRECISIONS = ("float32",)
TRAINING = False


def parameters(size, random):
    """Draw a standard normal table (rows, width)."""
    return {"table": draw(random, (size["rows"], size["width"]), 1.0)}


def batch(size, random, source=None):
    """Draw uniform int32 indices (bags, each)."""
    return (random.randint(0, size["rows"], (size["bags"], size["each"])).astype(np.int32),)


def reference(size, parameters, batch):
    """Compute the sums (bags, width) in the dtype of ``parameters``."""
    return {"sums": parameters["table"][batch[0]].sum(axis=1)}


def items(size):
    return size["bags"]


def useful_flops(size):
    """Count the additions."""
    return float(size["bags"] * (size["each"] - 1) * size["width"])


def compulsory_bytes(size, itemsize):
    """Count int32 indices read and sums written once; all rows but one could be in a cache."""
    return float(itemsize) * (size["bags"] + 1) * size["width"] + 4 * size["bags"] * size["each"]
