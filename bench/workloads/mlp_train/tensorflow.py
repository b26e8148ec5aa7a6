"""Implements mlp-train in TensorFlow: tf.Variable and GradientTape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import cross_entropy, variable_training
from . import OPTIMIZER


def loss(variables, inputs, labels):
    count = len(variables) // 2
    activations = inputs
    for index in range(count):
        activations = tf.nn.bias_add(tf.matmul(activations, variables["weight%d" % index]), variables["bias%d" % index])
        if index < count - 1:
            activations = tf.nn.relu(activations)
    return cross_entropy(labels, activations)


def build(size, parameters, batch, transform):
    return variable_training(loss, parameters, transform, OPTIMIZER)
