"""Implements catdog-cnn-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from ..lenet_train.torch import named_parameters
from . import OPTIMIZER
from .torch import made


def build(size, parameters, batch, transform):
    module = made(size, parameters, batch, transform)
    return training(module, transform, OPTIMIZER, lambda: named_parameters(module))
