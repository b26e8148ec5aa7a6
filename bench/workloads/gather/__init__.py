"""Specifies gather: rows of a table that are read by an index, as messages are from the nodes of a graph."""

from __future__ import annotations

import numpy as np

ITEM = "row"
# Those of scatter-add, which is the way back.
SIZES = {
    "check": {"rows": 16, "width": 4, "table": 5},
    "tiny": {"rows": 1024, "width": 16, "table": 128},
    "small": {"rows": 65536, "width": 32, "table": 4096},
    "medium": {"rows": 1048576, "width": 32, "table": 65536},
    "large": {"rows": 4194304, "width": 32, "table": 262144},
}
PRECISIONS = ("float32",)
TRAINING = False


def parameters(size, random):
    """Draw nothing: table and index are inputs."""
    return {}


def batch(size, random, source=None):
    """Draw a standard normal table (table, width), and an int32 index (rows,) in any order."""
    table = random.standard_normal((size["table"], size["width"])).astype(np.float32)
    return table, random.randint(0, size["table"], size["rows"]).astype(np.int32)


def reference(size, parameters, batch):
    """Return the rows (rows, width) in the dtype of ``batch``."""
    table, indices = batch
    return {"rows": table[indices]}


def items(size):
    return size["rows"]


def useful_flops(size):
    """Count the address of each row, the only arithmetic: a product of its index."""
    return float(size["rows"])


def compulsory_bytes(size, itemsize):
    """Count int32 index read and rows written once; all rows of the table but one could be in a cache."""
    return float(itemsize) * (size["rows"] + 1) * size["width"] + 4 * size["rows"]
