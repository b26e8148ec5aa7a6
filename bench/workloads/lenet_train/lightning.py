"""Implements lenet-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from . import OPTIMIZER
from .torch import made, named_parameters


def build(size, parameters, batch, transform):
    module = made(parameters, batch, transform)
    return training(module, transform, OPTIMIZER, lambda: named_parameters(module))
