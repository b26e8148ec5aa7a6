"""Specifies row-norms: the Euclidean length of every row of a matrix."""

import numpy as np

ITEM = "row"
SIZES = {
    "check": {"rows": 8, "columns": 16},
    "tiny": {"rows": 256, "columns": 256},
    "small": {"rows": 2048, "columns": 1024},
}
PRECISIONS = ("float32", "float64")
TRAINING = False


def parameters(size, random):
    """Return {name: float32 array}; this workload has no parameters."""
    return {}


def batch(size, random, source=None):
    """Draw one step's input: a matrix (rows, columns)."""
    return (random.standard_normal((size["rows"], size["columns"])).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute what every implementation must reproduce, in the precision of ``batch``: float64 when it is checked."""
    (matrix,) = batch
    return {"norms": np.sqrt((matrix * matrix).sum(axis=1))}


def items(size):
    return size["rows"]


def useful_flops(size):
    """Count a multiplication and an addition per element."""
    return 2.0 * size["rows"] * size["columns"]


def compulsory_bytes(size, itemsize):
    """Count the matrix read once and the norms written once."""
    return float(itemsize) * (size["rows"] * size["columns"] + size["rows"])
