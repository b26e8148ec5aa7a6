"""Reads what only a module tells: the memory layout of its convolutions, and the form of its attention."""

from __future__ import annotations

import torch


def module_settings(module):
    """Return ``layout`` and ``attention`` of a module that has them.

    A module says ``layout`` itself where its images decide it; a layer of attention says ``attention_form``.
    """
    found = convolution_layout(module)
    if isinstance(module, torch.nn.Module):
        if hasattr(module, "layout"):
            found["layout"] = module.layout
        forms = {layer.attention_form for layer in module.modules() if hasattr(layer, "attention_form")}
        if forms:
            found["attention"] = " and ".join(sorted(forms))
    return found


def activation_layout(convolved):
    """Name the layout of what a convolution with several filters returned."""
    last = convolved.is_contiguous(memory_format=torch.channels_last) and not convolved.is_contiguous()
    return "NCHW, channels_last" if last else "NCHW"


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
