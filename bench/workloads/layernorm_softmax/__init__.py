"""Specifies layernorm-softmax: layer normalisation of each row, with scale and shift, then a softmax over the row."""

from __future__ import annotations

import numpy as np

from .. import attention

#: Added to the biased variance before the square root.
EPSILON = attention.EPSILON

ITEM = "row"
# In float32 the input of "small" takes 4 MiB and that of "medium" 64 MiB, twice a last-level cache of 32 MiB.
SIZES = {
    "check": {"rows": 8, "columns": 24},
    "tiny": {"rows": 64, "columns": 256},
    "small": {"rows": 1024, "columns": 1024},
    "medium": {"rows": 16384, "columns": 1024},
    "large": {"rows": 65536, "columns": 1024},
}
PRECISIONS = ("float32", "bfloat16", "float16", "float64")
TRAINING = False


def parameters(size, random):
    """Draw scale near 1 and shift near 0, shape (columns,); exactly 1 and 0 would hide that one is omitted."""
    return {
        "scale": random.uniform(0.5, 1.5, size["columns"]).astype(np.float32),
        "shift": random.uniform(-0.5, 0.5, size["columns"]).astype(np.float32),
    }


def batch(size, random, source=None):
    """Draw rows (rows, columns), normal with mean 0.5 and variance 4, so that both statistics matter."""
    drawn = random.standard_normal((size["rows"], size["columns"]))
    return ((0.5 + 2.0 * drawn).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the probabilities (rows, columns) in the dtype of ``parameters``."""
    (inputs,) = batch
    logits = attention.layer_norm(inputs, parameters["scale"], parameters["shift"])
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return {"probabilities": powers / powers.sum(axis=-1, keepdims=True)}


def items(size):
    return size["rows"]


def useful_flops(size):
    """Count 12 operations per element and 5 per row; exp and the square root count as one.

    Per element: sum, centre, square, sum, normalise, scale, shift; maximum, subtract, exp, sum, divide. Per row: two
    divisions for the means, epsilon, root, inverse.
    """
    return float(size["rows"] * (12 * size["columns"] + 5))


def compulsory_bytes(size, itemsize):
    """Count the rows read and written once, scale and shift read once."""
    return float(itemsize) * 2 * (size["rows"] * size["columns"] + size["columns"])
