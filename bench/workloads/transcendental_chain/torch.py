"""Implements transcendental-chain in PyTorch: in place."""

from __future__ import annotations

import torch
from torch import nn

from ...frameworks.torch.adapter import kernel
from . import OFFSET


class Chain(nn.Module):
    """The chain in place, for the reasons of elementwise-chain.

    TorchScript's fuser in PyTorch 1.13 takes expressions. Whether they are faster depends on the processor: they took
    1.5 to 2.6 times as long on the one for which this form was chosen, and 0.74 of the time on a Zen 5 processor.
    """

    def __init__(self, parameters):
        super().__init__()
        self.register_buffer("scale", parameters["scale"])
        self.register_buffer("shift", parameters["shift"])
        self.offset = OFFSET

    def forward(self, inputs):
        affine = inputs.mul(self.scale).add_(self.shift)
        output = torch.tanh(affine)
        square = affine.mul_(affine)
        output.mul_(square.neg().exp_())
        return output.add_(square.add_(self.offset).log_())


def build(size, parameters, batch, transform):
    return kernel(Chain(parameters), transform, ("output",))
