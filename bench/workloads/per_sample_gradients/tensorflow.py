"""Implements per-sample-gradients in TensorFlow: tf.vectorized_map of a GradientTape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..mlp_train.tensorflow import loss


def differentiate(variables, inputs, labels, each=tf.vectorized_map):
    """Differentiate row by row; ``each`` applies a function to all rows."""

    def alone(sample):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            value = loss(variables, sample[0][None], sample[1][None])
        return tape.gradient(value, variables)

    return each(alone, (inputs, labels))


def build(size, parameters, batch, transform):
    return inference(differentiate, parameters, transform)
