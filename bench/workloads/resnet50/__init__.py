"""Specifies resnet50: inference of a residual network of 50 layers, version 1.5, with its running statistics.

It is resnet18 with bottlenecks, whose convolution of 3 by 3 has the stride.
"""

from __future__ import annotations

from ..resnet18 import (
    FLOPS_DIVISOR,
    ITEM,
    PRECISIONS,
    TRAINING,
    batch,
    compulsory_bytes,
    items,
    parameters,
    reference,
    useful_flops,
)
from ..serving import serving_sizes

__all__ = [
    "FLOPS_DIVISOR", "ITEM", "PRECISIONS", "SIZES", "TRAINING", "batch", "compulsory_bytes", "items", "parameters",
    "reference", "useful_flops",
]  # fmt: skip

SIZES = {
    # With a width of 4, all channels of the first bottleneck can be negative, so that ReLU hides what precedes it.
    "check": {"depth": 8, "side": 16, "stem": 7, "width": 8, "batch": 4, "classes": 5},
    "tiny": {"depth": 50, "side": 32, "stem": 3, "width": 16, "batch": 4, "classes": 10},
    "small": {"depth": 50, "side": 32, "stem": 3, "width": 64, "batch": 8, "classes": 10},
    "medium": {"depth": 50, "side": 224, "stem": 7, "width": 64, "batch": 1, "classes": 1000},
    "large": {"depth": 50, "side": 224, "stem": 7, "width": 64, "batch": 32, "classes": 1000},
}
SIZES.update(serving_sizes(SIZES["small"]))
