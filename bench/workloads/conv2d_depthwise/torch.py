"""Implements conv2d-depthwise in PyTorch: nn.Conv2d with a group for each channel, channels_last."""

from __future__ import annotations

from ..conv2d.torch import made


def build(size, parameters, batch, transform):
    return made(parameters["weight"].permute(2, 0, 1).unsqueeze(1), size["channels"], transform)
