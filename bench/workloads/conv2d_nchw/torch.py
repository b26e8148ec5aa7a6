"""Implements conv2d-nchw in PyTorch: an nn.Conv2d, or its function, in its default layout."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import kernel
from ...frameworks.torch.layouts import FORMATS
from ...program import Unsupported


class Convolution(nn.Module):
    """A convolution of images (batch, channels, side, side)."""

    def __init__(self, weight):
        super().__init__()
        filters, channels, kernel, _ = weight.shape
        self.convolution = nn.Conv2d(channels, filters, kernel, padding=kernel // 2, bias=False)
        self.convolution.to(weight.device, weight.dtype)
        with torch.no_grad():
            self.convolution.weight.copy_(weight)
        self.layout = "NCHW"

    def forward(self, images):
        return self.convolution(images)


def build(size, parameters, batch, transform):
    if transform.mode in FORMATS:
        # The adapter takes images for (batch, side, side, channels) in these modes.
        raise Unsupported("the layout is the workload's: see conv2d")
    module = Convolution(parameters["weight"].permute(3, 2, 0, 1))
    weight, padding = module.convolution.weight, module.convolution.padding

    def convolve(images):
        return functional.conv2d(images, weight, padding=padding)

    return kernel(module, transform, ("convolved",), convolve)
