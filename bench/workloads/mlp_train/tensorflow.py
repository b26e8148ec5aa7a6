"""Implements mlp-train in TensorFlow: tf.Variable and GradientTape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import cross_entropy, variable_training, wide
from . import OPTIMIZER


def loss(variables, inputs, labels):
    last = len(variables) // 2 - 1
    activations = inputs
    for index in range(last):
        activations = tf.matmul(activations, variables["weight%d" % index])
        activations = tf.nn.relu(tf.nn.bias_add(activations, variables["bias%d" % index]))
    products = tf.matmul(activations, variables["weight%d" % last])
    return cross_entropy(labels, tf.nn.bias_add(wide(products), wide(variables["bias%d" % last])))


def build(size, parameters, batch, transform):
    return variable_training(loss, parameters, transform, OPTIMIZER)
