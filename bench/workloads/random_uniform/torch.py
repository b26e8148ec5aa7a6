"""Implements random-uniform in PyTorch: torch.rand, which draws from the device's generator."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch.adapter import kernel


class Draws(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, seed):
        return torch.rand([self.count], device=seed.device)


def build(size, parameters, batch, transform):
    return kernel(Draws(size["draws"]), transform, ("draws",))
