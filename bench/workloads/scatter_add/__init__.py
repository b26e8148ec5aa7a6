"""Specifies scatter-add: rows that are added up by an index, as messages are in a graph neural network."""

from __future__ import annotations

import numpy as np

ITEM = "row"
SIZES = {
    "check": {"rows": 16, "width": 4, "groups": 5},
    "tiny": {"rows": 1024, "width": 16, "groups": 128},
    "small": {"rows": 65536, "width": 32, "groups": 4096},
    "medium": {"rows": 1048576, "width": 32, "groups": 65536},
    "large": {"rows": 4194304, "width": 32, "groups": 262144},
}
PRECISIONS = ("float32",)
TRAINING = False


def parameters(size, random):
    """Draw nothing: rows and index are inputs."""
    return {}


def batch(size, random, source=None):
    """Draw standard normal rows (rows, width), and the group of each, an int32 index (rows,) in any order."""
    rows = random.standard_normal((size["rows"], size["width"])).astype(np.float32)
    return rows, random.randint(0, size["groups"], size["rows"]).astype(np.int32)


def reference(size, parameters, batch):
    """Compute the sums (groups, width) in the dtype of ``batch``; a group without rows has zeros."""
    rows, groups = batch
    sums = np.zeros((size["groups"], size["width"]), rows.dtype)
    np.add.at(sums, groups, rows)
    return {"sums": sums}


def items(size):
    return size["rows"]


def useful_flops(size):
    """Count the additions; the first row of a group is copied."""
    return float(max(size["rows"] - size["groups"], 0) * size["width"])


def compulsory_bytes(size, itemsize):
    """Count rows and int32 index read and sums written once."""
    return float(itemsize) * (size["rows"] + size["groups"]) * size["width"] + 4 * size["rows"]
