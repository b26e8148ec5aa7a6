"""Implements gemm as a graph of TensorFlow: tf.matmul."""

from __future__ import annotations

from ...frameworks.tensorflow1.adapter import inference
from .tensorflow import multiply


def build(size, parameters, batch, transform):
    return inference(multiply, parameters, transform)
