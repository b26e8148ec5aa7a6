"""Implements per-sample-gradients in TensorFlow: outer products op by op; in a graph, tf.vectorized_map of a tape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.programs import DIFFERENTIATED
from ..mlp_train.tensorflow import loss


def differentiate(variables, inputs, labels, each=tf.vectorized_map):
    """Differentiate row by row; ``each`` applies a function to all rows."""

    def alone(sample):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(variables)
            value = loss(variables, sample[0][None], sample[1][None])
        return tape.gradient(value, variables)

    return each(alone, (inputs, labels))


def outer(rows, columns):
    """Multiply each row by its column. TensorFlow multiplies such thin matrices faster than it broadcasts."""
    return tf.matmul(tf.expand_dims(rows, 2), tf.expand_dims(columns, 1))


def by_layers(variables, inputs, labels):
    """Differentiate all rows at once: a layer's gradient for a row is the outer product of its input and its slope.

    Op by op, tf.vectorized_map traces and converts its function in every call, which took 70 times as long (tiny).
    """
    count, hidden, given, sums = len(variables) // 2, inputs, [], []
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for index in range(count):
            given.append(hidden)
            total = tf.nn.bias_add(tf.matmul(hidden, variables["weight%d" % index]), variables["bias%d" % index])
            # The tape records from the first sum on; the variables need no gradients.
            tape.watch(total)
            sums.append(total)
            hidden = tf.nn.relu(total) if index < count - 1 else total
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=hidden)
    found = {}
    for index, (row, slope) in enumerate(zip(given, tape.gradient(losses, sums))):
        found["weight%d" % index] = outer(row, slope)
        found["bias%d" % index] = slope
    return found


def build(size, parameters, batch, transform):
    return inference(
        by_layers if transform.mode == "eager" else differentiate, parameters, transform, not_frozen=DIFFERENTIATED
    )
