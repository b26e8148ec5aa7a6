"""Implements resnet18-train in Flax: the network of resnet18, whose running statistics a step updates."""

from __future__ import annotations

from ...frameworks.flax.adapter import layer_type, training
from ..resnet18.flax import described
from . import OPTIMIZER, initial_state


def build(size, parameters, batch, transform):
    kept = initial_state(size)
    network = described(size, [*parameters, *kept], train=True, dtype=layer_type(transform))
    return training(*network, parameters, transform, OPTIMIZER, kept, layout="NHWC")
