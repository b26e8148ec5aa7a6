"""Specifies transcendental-chain: tanh, exp and log of a large array, which measures libraries of vector functions.

With ``a = x * scale + shift`` and ``q = a * a`` the output is ``tanh(a) * exp(-q) + log(q + 2)``. The three functions
take most of the time; elementwise-chain measures what fusing cheap operations saves.
"""

from __future__ import annotations

import numpy as np

from .. import elementwise_chain

ITEM = "element"
OPERATIONS = 10
#: Added before the logarithm: with 1, a compiler may choose log1p, another function.
OFFSET = 2.0
SIZES = elementwise_chain.SIZES
PRECISIONS = ("float32", "bfloat16", "float16", "float64")
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
    square = affine * affine
    return {"output": np.tanh(affine) * np.exp(-square) + np.log(square + OFFSET)}


def items(size):
    return size["elements"]


def useful_flops(size):
    """Count one per operation and element, tanh, exp and log included."""
    return float(OPERATIONS * size["elements"])


def compulsory_bytes(size, itemsize):
    """Count the array read and written once; scale and shift are two numbers."""
    return float(itemsize) * (2 * size["elements"] + 2)
