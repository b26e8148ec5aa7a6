"""Implements mlp-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from . import OPTIMIZER
from .torch import Perceptron, named_parameters


def build(size, parameters, batch, transform):
    module = Perceptron(parameters).to(batch[0].device)
    return training(module, transform, OPTIMIZER, lambda: named_parameters(module))
