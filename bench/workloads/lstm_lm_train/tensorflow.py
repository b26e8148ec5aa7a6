"""Implements lstm-lm-train in TensorFlow: tf.Variable and GradientTape; the loop over time is unrolled."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import cross_entropy, variable_training, wide
from . import OPTIMIZER


def recur(inputs, weight, recurrent):
    """Map the inputs of each step (batch, width) to the hidden states of a layer."""
    projected = tf.split(tf.matmul(tf.concat(inputs, axis=0), weight), len(inputs))
    cell = hidden = tf.zeros_like(inputs[0])
    states = []
    for gates in projected:
        entered, kept, new, shown = tf.split(gates + tf.matmul(hidden, recurrent), 4, axis=-1)
        cell = tf.sigmoid(kept) * cell + tf.sigmoid(entered) * tf.tanh(new)
        hidden = tf.sigmoid(shown) * tf.tanh(cell)
        states.append(hidden)
    return states


def layer(variables, index, inputs):
    return recur(inputs, variables["layer%d.input" % index], variables["layer%d.state" % index])


def build(size, parameters, batch, transform, layer=layer):
    def loss(variables, tokens, targets):
        hidden = tf.unstack(tf.gather(variables["embedding"], tf.transpose(tokens)))
        for index in range(size["layers"]):
            hidden = layer(variables, index, hidden)
        flat = tf.matmul(tf.concat(hidden, axis=0), variables["dense.weight"])
        logits = tf.nn.bias_add(wide(flat), wide(variables["dense.bias"]))
        labels = tf.reshape(tf.transpose(targets), (-1,))
        return cross_entropy(labels, logits)

    return variable_training(loss, parameters, transform, OPTIMIZER)
