"""Reads the memory layout of convolutions, and the form of attention; sets the layout where a mode says which."""

from __future__ import annotations

import torch

from ...program import Unsupported
from . import settings

#: {mode: the memory format of the weights and the images}. Elsewhere an implementation has the format that was faster.
FORMATS = {"channels-last": torch.channels_last, "channels-first": torch.contiguous_format}


def placed(array, mode):
    """Return a tensor of images (batch, height, width, channels) in the memory of a mode; others stay as they are.

    Implementations permute images to (batch, channels, height, width), which then lie as the mode has it.
    """
    if mode != "channels-first" or array.dim() != 4:
        return array
    count, height, width, channels = array.shape
    # A reshape after the copy: with one channel, a permuted tensor keeps the strides by which it is channels_last, too.
    flat = array.permute(0, 3, 1, 2).contiguous().reshape(-1)
    return flat.reshape(count, channels, height, width).permute(0, 2, 3, 1)


def converted(module, mode):
    """Give a module the memory format of a mode, and return it; its first call notes the layout that comes of it.

    Raises Unsupported where it has no convolutions.
    """
    layers = module.modules() if isinstance(module, torch.nn.Module) else ()
    first = next((layer for layer in layers if isinstance(layer, torch.nn.Conv2d)), None)
    if first is None:
        raise Unsupported("has no images: see eager")
    module.to(memory_format=FORMATS[mode])

    def note(layer, images, convolved):
        module.layout = activation_layout(convolved)
        noted.remove()

    noted = first.register_forward_hook(note)
    return module


def module_settings(module):
    """Return ``layout`` and ``attention`` of a module that has them, and what its autocast makes of float32 products.

    A module says ``layout`` itself where its images decide it; a layer of attention says ``attention_form``.
    """
    found = convolution_layout(module)
    if isinstance(module, torch.nn.Module):
        if hasattr(module, "layout"):
            found["layout"] = module.layout
        forms = {layer.attention_form for layer in module.modules() if hasattr(layer, "attention_form")}
        if forms:
            found["attention"] = " and ".join(sorted(forms))
        if hasattr(module, "autocast"):
            found.update(settings.in_autocast(module.autocast))
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
