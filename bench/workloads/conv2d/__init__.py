"""Specifies conv2d: a convolution of 3 by 3 with as many filters as channels, stride 1, padded by 1 at every edge."""

from __future__ import annotations

import numpy as np

from .. import convolution, layers

ITEM = "image"
SIZES = {
    "check": {"batch": 2, "side": 6, "channels": 4},
    "tiny": {"batch": 4, "side": 16, "channels": 16},
    "small": {"batch": 8, "side": 56, "channels": 64},
    "medium": {"batch": 32, "side": 56, "channels": 64},
    "large": {"batch": 32, "side": 56, "channels": 256},
}
PRECISIONS = ("float32", "tf32", "bfloat16", "float16")
TRAINING = False
#: Winograd's F(4×4, 3×3) computes 16 outputs of a 3 by 3 filter with 36 products instead of 144 (Lavin & Gray 2016).
FLOPS_DIVISOR = 4
KERNEL = 3


def parameters(size, random):
    """Draw He-initialised weights (3, 3, channels, channels)."""
    channels = size["channels"]
    return {"weight": layers.he(random, (KERNEL, KERNEL, channels, channels), KERNEL**2 * channels)}


def batch(size, random, source=None):
    """Draw images (batch, side, side, channels), standard normal."""
    return (random.standard_normal((size["batch"], size["side"], size["side"], size["channels"])).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the convolved images in the dtype of ``batch``."""
    return {"convolved": convolution.conv2d(batch[0], parameters["weight"], padding=KERNEL // 2)}


def items(size):
    return size["batch"]


def useful_flops(size):
    """Count a multiplication and an addition for each weight and place, without those of the padding."""
    return 2.0 * size["batch"] * (KERNEL * size["side"] - 2) ** 2 * size["channels"] ** 2


def compulsory_bytes(size, itemsize):
    """Count weights and images read once, and convolved images written once."""
    pixels = size["batch"] * size["side"] ** 2 * size["channels"]
    return float(itemsize) * (2 * pixels + KERNEL**2 * size["channels"] ** 2)
