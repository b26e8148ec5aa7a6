"""Specifies batched-gemm: the products of many pairs of small square matrices, all of them inputs."""

from __future__ import annotations

import numpy as np

ITEM = "product"
SIZES = {
    "check": {"batch": 3, "order": 8},
    "tiny": {"batch": 16, "order": 16},
    "small": {"batch": 256, "order": 64},
    "medium": {"batch": 4096, "order": 32},
    "large": {"batch": 1024, "order": 256},
}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
TRAINING = False


def parameters(size, random):
    """Draw nothing: both factors are inputs."""
    return {}


def batch(size, random, source=None):
    """Draw left and right (count, order, order), so scaled that the elements of their products have variance 1."""
    shape = (size["batch"], size["order"], size["order"])
    left = random.standard_normal(shape).astype(np.float32)
    return left, (random.standard_normal(shape) / np.sqrt(size["order"])).astype(np.float32)


def reference(size, parameters, batch):
    """Compute left @ right in the dtype of ``batch``."""
    return {"products": batch[0] @ batch[1]}


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count a multiplication and an addition for each of order³ terms."""
    return 2.0 * size["batch"] * size["order"] ** 3


def compulsory_bytes(size, itemsize):
    """Count both factors read and the products written once."""
    return 3.0 * itemsize * size["batch"] * size["order"] ** 2
