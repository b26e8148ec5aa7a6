"""Specifies elementwise-chain: cheap pointwise operations on a large array, which measures the fusion of operations.

With ``a = x * scale`` and ``c = max(a, floor) - x`` the output is ``max(min(a * c, x) + c, x) * c``: eight operations,
each of which passes through memory unless it is fused. No product is added to anything, because some frameworks have
multiply-add as one operation. transcendental-chain measures functions that take a library many instructions.
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
    "large": {"elements": 1 << 26},
}
PRECISIONS = ("float32", "bfloat16", "float16", "float64")
TRAINING = False


def parameters(size, random):
    """Draw scale and floor, each of shape (); scale is far from 1, so that ``a - x`` cancels no digits."""
    return {
        "scale": np.array(random.uniform(0.4, 0.6), np.float32),
        "floor": np.array(random.uniform(0.05, 0.15), np.float32),
    }


def batch(size, random, source=None):
    """Draw x (elements,), uniform in [-2, 2), so that either side of every maximum and minimum is taken."""
    return (random.uniform(-2.0, 2.0, size["elements"]).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the output (elements,) in the dtype of ``batch``."""
    (inputs,) = batch
    scaled = inputs * parameters["scale"]
    above = np.maximum(scaled, parameters["floor"]) - inputs
    return {"output": np.maximum(np.minimum(scaled * above, inputs) + above, inputs) * above}


def items(size):
    return size["elements"]


def useful_flops(size):
    """Count one per operation and element, maximum and minimum included."""
    return float(OPERATIONS * size["elements"])


def compulsory_bytes(size, itemsize):
    """Count the array read and written once; scale and floor are two numbers."""
    return float(itemsize) * (2 * size["elements"] + 2)
