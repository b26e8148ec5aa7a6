"""Specifies resnet18: inference of a residual network of 18 layers, version 1.5, with its running statistics."""

from __future__ import annotations

import numpy as np

from .. import resnet
from ..serving import serving_sizes

ITEM = "image"
SIZES = {
    "check": {"depth": 6, "side": 8, "stem": 3, "width": 4, "batch": 4, "classes": 5},
    "tiny": {"depth": 18, "side": 32, "stem": 3, "width": 16, "batch": 4, "classes": 10},
    "small": {"depth": 18, "side": 32, "stem": 3, "width": 64, "batch": 8, "classes": 10},
    "medium": {"depth": 18, "side": 224, "stem": 7, "width": 64, "batch": 1, "classes": 1000},
    "large": {"depth": 18, "side": 224, "stem": 7, "width": 64, "batch": 32, "classes": 1000},
}
SIZES.update(serving_sizes(SIZES["small"]))
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
FLOPS_DIVISOR = resnet.FLOPS_DIVISOR
TRAINING = False


def parameters(size, random):
    """Draw weights, scales and shifts, and the running statistics: means near 0 and variances near 1."""
    drawn = resnet.parameters(size, random)
    for name, value in resnet.initial_state(size).items():
        drawn[name] = (value + random.uniform(-0.3, 0.3, value.shape)).astype(np.float32)
    return drawn


def batch(size, random, source=None):
    return (resnet.images(size, random),)


def reference(size, parameters, batch):
    """Compute the logits (batch, classes) in the dtype of ``parameters``."""
    return resnet.reference(size, parameters, batch)


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count the FLOPs of convolutions and the dense layer."""
    return sum(resnet.forward_flops(size))


def compulsory_bytes(size, itemsize):
    """Count parameters, running statistics and images read once."""
    count = resnet.parameter_count(size) + resnet.statistics_count(size)
    return float(itemsize) * (count + resnet.image_elements(size))
