"""Implements batched-gemm in TensorFlow: tf.matmul."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def multiply(variables, left, right):
    return {"products": tf.matmul(left, right)}


def build(size, parameters, batch, transform):
    return inference(multiply, parameters, transform)
