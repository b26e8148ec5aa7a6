"""Implements resnet18-train in PyTorch: the module of resnet18 with its optimizer."""

from __future__ import annotations

from torch import nn
from torch.nn import functional

from ...frameworks.torch.adapter import module_training
from ..resnet18.torch import made, named_values
from . import OPTIMIZER


class Trained(nn.Module):
    """The network with its loss, so that it is compiled too."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.layout = network.layout

    def forward(self, images, labels):
        return functional.cross_entropy(self.network(images), labels)


def build(size, parameters, batch, transform):
    network = made(size, parameters)
    return module_training(Trained(network), transform, OPTIMIZER, lambda: named_values(network))
