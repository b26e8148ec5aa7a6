"""Specifies gemm: the product of two square matrices, both of them inputs."""

from __future__ import annotations

import numpy as np

ITEM = "product"
# In float32 the three matrices of "small" take 3 MiB, those of "medium" 12 MiB and those of "large" 192 MiB.
SIZES = {
    "check": {"order": 16},
    "tiny": {"order": 128},
    "small": {"order": 512},
    "medium": {"order": 1024},
    "large": {"order": 4096},
}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16", "float64")
TRAINING = False


def parameters(size, random):
    """Draw nothing: both factors are inputs."""
    return {}


def batch(size, random, source=None):
    """Draw left and right (order, order), normal, scaled so that the elements of their product have variance 1."""
    shape = (size["order"], size["order"])
    left = random.standard_normal(shape).astype(np.float32)
    right = (random.standard_normal(shape) / np.sqrt(size["order"])).astype(np.float32)
    return left, right


def reference(size, parameters, batch):
    """Compute left @ right in the dtype of ``batch``."""
    left, right = batch
    return {"product": left @ right}


def items(size):
    return 1


def useful_flops(size):
    """Count a multiplication and an addition for each of order³ terms."""
    return 2.0 * size["order"] ** 3


def compulsory_bytes(size, itemsize):
    """Count both factors read and the product written once."""
    return 3.0 * itemsize * size["order"] ** 2
