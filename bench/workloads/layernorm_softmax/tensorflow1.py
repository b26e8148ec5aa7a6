"""Implements layernorm-softmax as a graph of TensorFlow, from the function that TensorFlow 2.x has."""

from __future__ import annotations

from ...frameworks.tensorflow1.adapter import inference
from .tensorflow import normalise


def build(size, parameters, batch, transform):
    return inference(normalise, parameters, transform)
