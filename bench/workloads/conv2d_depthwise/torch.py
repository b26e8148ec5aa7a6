"""Implements conv2d-depthwise in PyTorch: nn.Conv2d with a group for each channel, channels_last."""

from __future__ import annotations

from ...frameworks.torch.adapter import inference
from ..conv2d.torch import Convolution


def build(size, parameters, batch, transform):
    weight = parameters["weight"].permute(2, 0, 1).unsqueeze(1)
    return inference(Convolution(weight, size["channels"]), transform, ("convolved",))
