"""Implements random-normal in PyTorch: torch.randn, which draws from the device's generator."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch.adapter import kernel


class Draws(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, seed):
        return torch.randn([self.count], device=seed.device)


def build(size, parameters, batch, transform):
    count, device = size["draws"], batch[0].device

    def draw(seed):
        # Asking the seed for its device, and a list, took a microsecond or two of 18.
        return torch.randn(count, device=device)

    return kernel(Draws(count), transform, ("draws",), draw)
