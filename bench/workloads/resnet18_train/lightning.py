"""Implements resnet18-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from ..resnet18.torch import made, named_values
from . import OPTIMIZER
from .torch import Trained


def build(size, parameters, batch, transform):
    network = made(size, parameters)
    return training(Trained(network), transform, OPTIMIZER, lambda: named_values(network))
