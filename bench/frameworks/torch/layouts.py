"""Reads the memory layout of a module's convolutions."""

from __future__ import annotations

import torch


def convolution_layout(module):
    """Read the layout of a module's convolutions off their weights, by which PyTorch chooses its kernels.

    A weight of one channel has the same memory in both layouts.
    """
    if not isinstance(module, torch.nn.Module):
        return {}
    weights = [layer.weight for layer in module.modules() if isinstance(layer, torch.nn.Conv2d)]
    if not weights:
        return {}
    last = [
        weight.is_contiguous(memory_format=torch.channels_last) and not weight.is_contiguous() for weight in weights
    ]
    return {"layout": "NCHW, channels_last" if any(last) else "NCHW"}
