"""Implements lstm-lm-train in TensorFlow: tf.Variable and GradientTape; the loop over time is unrolled, or tf.scan."""

from __future__ import annotations

import functools

import tensorflow as tf

from ...frameworks.tensorflow.adapter import cross_entropy, variable_training, wide
from ...frameworks.tensorflow.clustering import compiles_for_processor
from . import OPTIMIZER


def update(cell, gates):
    """Return the cell and the hidden state after a step whose gates have these inputs."""
    entered, kept, new, shown = tf.split(gates, 4, axis=-1)
    cell = tf.sigmoid(kept) * cell + tf.sigmoid(entered) * tf.tanh(new)
    return cell, tf.sigmoid(shown) * tf.tanh(cell)


def recur(inputs, weight, recurrent):
    """Map the inputs of each step (batch, width) to the hidden states of a layer."""
    projected = tf.split(tf.matmul(tf.concat(inputs, axis=0), weight), len(inputs))
    cell = hidden = tf.zeros_like(inputs[0])
    states = []
    for gates in projected:
        cell, hidden = update(cell, gates + tf.matmul(hidden, recurrent))
        states.append(hidden)
    return states


def scan(inputs, weight, recurrent):
    """Do as ``recur``. With XLA on a processor the unrolled loop took 1.3 times as long."""
    recurrent = tf.convert_to_tensor(recurrent)
    projected = tf.reshape(tf.matmul(tf.concat(inputs, axis=0), weight), (len(inputs), -1, weight.shape[-1]))

    def step(carried, gates):
        cell, hidden = carried
        return update(cell, gates + tf.matmul(hidden, recurrent))

    zeros = tf.zeros_like(inputs[0])
    return tf.unstack(tf.scan(step, projected, (zeros, zeros))[1])


def of_weights(recur, variables, index, inputs):
    return recur(inputs, variables["layer%d.input" % index], variables["layer%d.state" % index])


def build(size, parameters, batch, transform, layer=None):
    if layer is None:
        layer = functools.partial(of_weights, scan if compiles_for_processor(transform.mode) else recur)

    def loss(variables, tokens, targets):
        hidden = tf.unstack(tf.gather(variables["embedding"], tf.transpose(tokens)))
        for index in range(size["layers"]):
            hidden = layer(variables, index, hidden)
        flat = tf.matmul(tf.concat(hidden, axis=0), variables["dense.weight"])
        logits = tf.nn.bias_add(wide(flat), wide(variables["dense.bias"]))
        labels = tf.reshape(tf.transpose(targets), (-1,))
        return cross_entropy(labels, logits)

    return variable_training(loss, parameters, transform, OPTIMIZER)
