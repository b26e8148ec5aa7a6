"""Specifies per-sample-gradients: the gradients of a perceptron's loss, of each row of a batch by itself."""

from __future__ import annotations

import numpy as np

from ...differentiation import loss_and_gradients
from ..mlp_train import batch, items, loss, parameters, widths

__all__ = ["batch", "items", "parameters"]

ITEM = "row"
SIZES = {
    "check": {"batch": 6, "inputs": 12, "hidden": 16, "layers": 2, "classes": 5},
    "tiny": {"batch": 16, "inputs": 64, "hidden": 64, "layers": 2, "classes": 10},
    "small": {"batch": 64, "inputs": 128, "hidden": 256, "layers": 2, "classes": 10},
    "medium": {"batch": 128, "inputs": 784, "hidden": 512, "layers": 2, "classes": 10},
    "large": {"batch": 256, "inputs": 784, "hidden": 1024, "layers": 2, "classes": 10},
}
PRECISIONS = ("float32",)
TRAINING = False


def reference(size, parameters, batch):
    """Compute {"weight0": (batch, inputs, outputs), "bias0": (batch, outputs), …} in the dtype of ``parameters``."""
    found = []
    for row, label in zip(*batch):
        alone = (row[None], np.asarray(label)[None])
        found.append(loss_and_gradients(loss, size, parameters, {}, alone)[2])
    return {name: np.stack([gradients[name] for gradients in found]) for name in parameters}


def elements(size):
    """Count the elements of the gradients of one row."""
    shape = widths(size)
    return sum(rows * columns + columns for rows, columns in zip(shape, shape[1:]))


def useful_flops(size):
    """Count the products forward and backward, and outer products, which need one operation for each element."""
    shape = widths(size)
    products = [size["batch"] * rows * columns for rows, columns in zip(shape, shape[1:])]
    return 5.0 * sum(products) - 2 * products[0]


def compulsory_bytes(size, itemsize):
    """Count parameters and inputs read and the gradients of every row written once."""
    return float(itemsize) * ((1 + size["batch"]) * elements(size) + size["batch"] * size["inputs"])
