"""Specifies input-pipeline: the input pipeline of lenet-input alone, which delivers batches that nobody computes with.

A step fetches, decodes, mirrors and normalises the examples of a batch, in the order given, and joins them.
"""

from __future__ import annotations

import numpy as np

from ..lenet_input import DEVIATION, ITEM, MEAN, PRECISIONS, SIZES, batch, items, prepared, stored_bytes
from ..lenet_train import SIDE

__all__ = ["ITEM", "PRECISIONS", "SIZES", "batch", "items"]

TRAINING = False


def parameters(size, random):
    """Return what normalises a byte."""
    return {"mean": np.array(MEAN, np.float32), "deviation": np.array(DEVIATION, np.float32)}


def reference(size, parameters, batch):
    """Compute the images (batch, 32, 32, 1) and labels (batch,) of a batch, in its order."""
    images, labels = prepared(*batch, parameters["mean"], parameters["deviation"])
    return {"images": images, "labels": labels.astype(images.dtype)}


def useful_flops(size):
    """Count a product and a sum for each pixel."""
    return 2.0 * size["batch"] * SIDE**2


def compulsory_bytes(size, itemsize):
    """Count the images written once, and the least that a compressed example has."""
    return float(itemsize) * size["batch"] * SIDE**2 + stored_bytes(size)
