"""Specifies conv2d-nchw: the convolution of conv2d, of images that are stored with their channels first."""

from __future__ import annotations

import numpy as np

from .. import convolution
from ..conv2d import (
    FLOPS_DIVISOR,
    ITEM,
    KERNEL,
    PRECISIONS,
    SIZES,
    TRAINING,
    compulsory_bytes,
    items,
    parameters,
    useful_flops,
)

__all__ = [
    "FLOPS_DIVISOR", "ITEM", "PRECISIONS", "SIZES", "TRAINING", "compulsory_bytes", "items", "parameters",
    "useful_flops",
]  # fmt: skip


def batch(size, random, source=None):
    """Draw images (batch, channels, side, side), standard normal."""
    return (random.standard_normal((size["batch"], size["channels"], size["side"], size["side"])).astype(np.float32),)


def reference(size, parameters, batch):
    """Compute the convolved images, with their channels first, in the dtype of ``batch``."""
    convolved = convolution.conv2d(batch[0].transpose(0, 2, 3, 1), parameters["weight"], padding=KERNEL // 2)
    return {"convolved": convolved.transpose(0, 3, 1, 2)}
