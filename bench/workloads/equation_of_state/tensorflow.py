"""Implements equation-of-state in TensorFlow: the specification's formula with the functions of tf."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..ocean import Operations
from . import enthalpy_slope

OPERATIONS = Operations(
    tf.sqrt, tf.math.log1p, tf.tanh, tf.abs, tf.maximum, tf.minimum, tf.where, tf.concat, tf.stack
)  # fmt: skip


def build(size, parameters, batch, transform):
    return inference(lambda variables, *batch: enthalpy_slope(OPERATIONS, *batch), parameters, transform)
