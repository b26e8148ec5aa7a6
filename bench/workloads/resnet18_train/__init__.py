"""Specifies resnet18-train: one SGD step with momentum of a residual network of 18 layers, version 1.5.

Batch normalisation uses the batch's statistics and updates the running ones, which are compared, too.
"""

from __future__ import annotations

import numpy as np

from .. import resnet
from ..resnet import initial_state, loss

__all__ = ["initial_state", "loss"]

ITEM = "image"
SIZES = {
    "check": {"depth": 6, "side": 8, "stem": 3, "width": 4, "batch": 4, "classes": 5},
    "tiny": {"depth": 18, "side": 32, "stem": 3, "width": 16, "batch": 4, "classes": 10},
    "small": {"depth": 18, "side": 32, "stem": 3, "width": 64, "batch": 8, "classes": 10},
    "medium": {"depth": 18, "side": 32, "stem": 3, "width": 64, "batch": 64, "classes": 10},
    "large": {"depth": 18, "side": 224, "stem": 7, "width": 64, "batch": 16, "classes": 1000},
}
PRECISIONS = ("float32", "mixed-bfloat16")
FLOPS_DIVISOR = resnet.FLOPS_DIVISOR
TRAINING = True
OPTIMIZER = {"name": "sgd", "learning_rate": 0.01, "momentum": 0.9}


def parameters(size, random):
    return resnet.parameters(size, random)


def batch(size, random, source=None):
    """Draw images, standard normal, and int32 labels (batch,)."""
    return resnet.images(size, random), random.randint(0, size["classes"], size["batch"]).astype(np.int32)


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of convolutions and the dense layer: one forward and two backward, less the images' gradient."""
    first, others = resnet.forward_flops(size)
    return 2 * first + 3 * others


def compulsory_bytes(size, itemsize):
    """Count parameters, velocities and running statistics read and written once, and the images read once."""
    count = 2 * resnet.parameter_count(size) + resnet.statistics_count(size)
    return float(itemsize) * (2 * count + resnet.image_elements(size))
