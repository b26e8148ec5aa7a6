"""Implements catdog-cnn-train in Lightning, with the module of PyTorch."""

from __future__ import annotations

from ...frameworks.lightning.adapter import training
from ..lenet_train.torch import load, named_parameters, note_layout, pooling
from . import OPTIMIZER
from .torch import CatDogNetwork


def build(size, parameters, batch, transform):
    pooled, dense = parameters["dense1_weight"].shape
    device, dtype = batch[0].device, batch[0].dtype
    module = CatDogNetwork(size["filters"], pooled, dense, pooling(transform, device)).to(device, dtype)
    load(module, parameters)
    note_layout(module, batch[0])
    return training(module, transform, OPTIMIZER, lambda: named_parameters(module))
