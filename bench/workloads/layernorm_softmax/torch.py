"""Implements layernorm-softmax in PyTorch: its layer_norm and softmax kernels."""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import kernel
from . import EPSILON


class Normalisation(nn.Module):
    """The two layers with scale and shift as buffers."""

    def __init__(self, parameters):
        super().__init__()
        self.register_buffer("scale", parameters["scale"])
        self.register_buffer("shift", parameters["shift"])
        self.epsilon = EPSILON

    def forward(self, inputs):
        logits = functional.layer_norm(inputs, self.scale.shape, self.scale, self.shift, self.epsilon)
        return functional.softmax(logits, dim=-1)


def build(size, parameters, batch, transform):
    return kernel(Normalisation(parameters), transform, ("probabilities",))
