"""Specifies conv2d-depthwise: a convolution of 3 by 3 with one filter for each channel, padded by 1 at every edge."""

from __future__ import annotations

from .. import convolution, layers
from ..conv2d import FLOPS_DIVISOR, ITEM, KERNEL, PRECISIONS, SIZES, TRAINING, batch, items

__all__ = ["FLOPS_DIVISOR", "ITEM", "PRECISIONS", "SIZES", "TRAINING", "batch", "items"]


def parameters(size, random):
    """Draw He-initialised weights (3, 3, channels)."""
    return {"weight": layers.he(random, (KERNEL, KERNEL, size["channels"]), KERNEL**2)}


def reference(size, parameters, batch):
    """Compute the convolved images in the dtype of ``batch``."""
    windows = convolution.windows_of(batch[0], KERNEL, KERNEL, 1, KERNEL // 2)
    return {"convolved": (windows * parameters["weight"].transpose(2, 0, 1)).sum(axis=(-1, -2))}


def useful_flops(size):
    """Count a multiplication and an addition for each weight and place, without those of the padding."""
    return 2.0 * size["batch"] * (KERNEL * size["side"] - 2) ** 2 * size["channels"]


def compulsory_bytes(size, itemsize):
    """Count weights and images read once, and convolved images written once."""
    pixels = size["batch"] * size["side"] ** 2 * size["channels"]
    return float(itemsize) * (2 * pixels + KERNEL**2 * size["channels"])
