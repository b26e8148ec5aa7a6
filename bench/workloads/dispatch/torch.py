"""Implements dispatch in PyTorch: a Python loop over tensors, in a module that TorchScript can freeze."""

from __future__ import annotations

from torch import nn, tanh

from ...frameworks.torch.adapter import kernel
from . import cycle


class Chain(nn.Module):
    """The chain with its tensors in plain lists: looking up a registered one costs as much as a small operation."""

    def __init__(self, size, parameters):
        super().__init__()
        self.cycles = size["cycles"]
        links = cycle(size, parameters)
        self.weights = [weight for weight, _, _ in links]
        self.biases = [bias for _, bias, _ in links]
        self.offsets = [offset for _, _, offset in links]

    def forward(self, values):
        for _ in range(self.cycles):
            for weight, bias, offset in zip(self.weights, self.biases, self.offsets):
                values = tanh(values * weight + bias) - offset
        return values


def build(size, parameters, batch, transform):
    return kernel(Chain(size, parameters), transform, ("values",))
