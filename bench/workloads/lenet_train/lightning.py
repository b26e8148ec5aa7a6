"""Implements lenet-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from . import OPTIMIZER
from .torch import LeNet, load, named_parameters, note_layout, pooling


def build(size, parameters, batch, transform):
    module = LeNet(pooling(transform, batch[0].device)).to(batch[0].device, batch[0].dtype)
    load(module, parameters)
    note_layout(module, batch[0])
    return training(module, transform, OPTIMIZER, lambda: named_parameters(module))
