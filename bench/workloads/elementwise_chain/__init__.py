"""Specifies elementwise-chain: pointwise operations on a large array, which measures the fusion of operations.

With ``a = x * scale + shift`` the output is ``tanh(a) * exp(-(a * a)) + x``: eight operations, each of which passes
through memory unless it is fused.
"""

from __future__ import annotations

import numpy as np

ITEM = "element"
OPERATIONS = 8
# In float32 one array of "small" takes 4 MiB and one of "medium" 64 MiB, twice a last-level cache of 32 MiB.
SIZES = {
    "check": {"elements": 1000},
    "tiny": {"elements": 1 << 16},
    "small": {"elements": 1 << 20},
    "medium": {"elements": 1 << 24},
}
PRECISIONS = ("float32", "bfloat16", "float64")
TRAINING = False


def parameters(size, random):
    """Draw scale and shift, each of shape (), so that ``a`` is neither saturated nor linear."""
    return {
        "scale": np.array(random.uniform(0.8, 1.2), np.float32),
        "shift": np.array(random.uniform(-0.2, 0.2), np.float32),
    }


def batch(size, random, source=None):
    """Draw x (elements,), standard normal."""
    return (random.standard_normal(size["elements"]).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the output (elements,) in the dtype of ``batch``."""
    (inputs,) = batch
    affine = inputs * parameters["scale"] + parameters["shift"]
    return {"output": np.tanh(affine) * np.exp(-(affine * affine)) + inputs}


def items(size):
    return size["elements"]


def useful_flops(size):
    """Count one per operation and element, tanh and exp included."""
    return float(OPERATIONS * size["elements"])


def compulsory_bytes(size, itemsize):
    """Count the array read and written once; scale and shift are two numbers."""
    return float(itemsize) * (2 * size["elements"] + 2)
