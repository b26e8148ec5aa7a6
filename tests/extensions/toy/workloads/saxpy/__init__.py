"""Specifies saxpy: a vector scaled by a parameter, and another one added to it."""

from __future__ import annotations

import numpy as np

ITEM = "element"
SIZES = {"check": {"length": 64}, "tiny": {"length": 4096}, "small": {"length": 1 << 20}}
PRECISIONS = ("float32", "float64")
TRAINING = False


def parameters(size, random):
    return {"scale": random.standard_normal(1).astype(np.float32)}


def batch(size, random, source=None):
    return tuple(random.standard_normal(size["length"]).astype(np.float32) for _ in range(2))


def reference(size, parameters, batch):
    left, right = batch
    return {"sum": parameters["scale"] * left + right}


def items(size):
    return size["length"]


def useful_flops(size):
    return 2.0 * size["length"]


def compulsory_bytes(size, itemsize):
    return 3.0 * itemsize * size["length"]
