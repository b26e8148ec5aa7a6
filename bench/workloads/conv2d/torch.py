"""Implements conv2d in PyTorch: an nn.Conv2d whose weight and images are channels_last."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch.adapter import inference


class Convolution(nn.Module):
    """A convolution of images (batch, side, side, channels)."""

    def __init__(self, weight, groups):
        super().__init__()
        filters, _, kernel, _ = weight.shape
        self.convolution = nn.Conv2d(filters, filters, kernel, padding=kernel // 2, groups=groups, bias=False)
        self.convolution.to(weight.device, weight.dtype, memory_format=torch.channels_last)
        with torch.no_grad():
            self.convolution.weight.copy_(weight)
        self.layout = "NCHW, channels_last"

    def forward(self, images):
        return self.convolution(images.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


def build(size, parameters, batch, transform):
    weight = parameters["weight"].permute(3, 2, 0, 1)
    return inference(Convolution(weight, 1), transform, ("convolved",))
