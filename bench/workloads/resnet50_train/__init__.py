"""Specifies resnet50-train: one SGD step with momentum of a residual network of 50 layers, version 1.5.

It is resnet18-train with bottlenecks, whose convolution of 3 by 3 has the stride, and with the stem for large images.
"""

from __future__ import annotations

from ..resnet18_train import (
    FLOPS_DIVISOR,
    ITEM,
    OPTIMIZER,
    PRECISIONS,
    TRAINING,
    batch,
    compulsory_bytes,
    initial_state,
    items,
    loss,
    parameters,
    useful_flops,
)

__all__ = [
    "FLOPS_DIVISOR", "ITEM", "OPTIMIZER", "PRECISIONS", "SIZES", "TRAINING", "batch", "compulsory_bytes",
    "initial_state", "items", "loss", "parameters", "useful_flops",
]  # fmt: skip

SIZES = {
    "check": {"depth": 8, "side": 16, "stem": 7, "width": 4, "batch": 4, "classes": 5},
    "tiny": {"depth": 50, "side": 64, "stem": 7, "width": 16, "batch": 4, "classes": 10},
    "mini": {"depth": 50, "side": 32, "stem": 3, "width": 64, "batch": 4, "classes": 10},
    "small": {"depth": 50, "side": 224, "stem": 7, "width": 64, "batch": 2, "classes": 1000},
    "medium": {"depth": 50, "side": 224, "stem": 7, "width": 64, "batch": 8, "classes": 1000},
    "large": {"depth": 50, "side": 224, "stem": 7, "width": 64, "batch": 16, "classes": 1000},
}
