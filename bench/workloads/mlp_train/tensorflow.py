"""Implements mlp-train in TensorFlow: tf.Variable and GradientTape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import variable_training
from . import OPTIMIZER


def loss(variables, inputs, labels):
    count = len(variables) // 2
    activations = inputs
    for index in range(count):
        activations = tf.nn.bias_add(tf.matmul(activations, variables["weight%d" % index]), variables["bias%d" % index])
        if index < count - 1:
            activations = tf.nn.relu(activations)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=activations))


def build(size, parameters, batch, transform):
    return variable_training(loss, parameters, transform, OPTIMIZER)
