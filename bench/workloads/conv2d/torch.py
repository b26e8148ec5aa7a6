"""Implements conv2d in PyTorch: an nn.Conv2d, or its function, of a weight and images in channels_last."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import kernel
from ...frameworks.torch.scripting import lone_convolution


class Convolution(nn.Module):
    """A convolution of images (batch, side, side, channels)."""

    def __init__(self, weight, groups, layer=nn.Conv2d):
        super().__init__()
        filters, _, kernel, _ = weight.shape
        self.convolution = layer(filters, filters, kernel, padding=kernel // 2, groups=groups, bias=False)
        self.convolution.to(weight.device, weight.dtype, memory_format=torch.channels_last)
        with torch.no_grad():
            self.convolution.weight.copy_(weight)
        self.layout = "NCHW, channels_last"

    def forward(self, images):
        return self.convolution(images.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def made(weight, groups, transform):
    """Make the program of a convolution with a weight (filters, channels of a group, rows, columns)."""
    module = Convolution(weight, groups, lone_convolution(transform.mode, weight))
    weight, padding = module.convolution.weight, module.convolution.padding

    def convolve(images):
        convolved = functional.conv2d(images.permute(0, 3, 1, 2), weight, padding=padding, groups=groups)
        return convolved.permute(0, 2, 3, 1)

    return kernel(module, transform, ("convolved",), convolve)


def build(size, parameters, batch, transform):
    return made(parameters["weight"].permute(3, 2, 0, 1), 1, transform)
