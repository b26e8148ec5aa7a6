"""Implements transformer-train in TensorFlow: tf.Variable and GradientTape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import variable_training
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask, forward
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    mask = causal_mask(size["sequence"], parameters["token_embedding"].dtype)

    def loss(variables, tokens, targets):
        table = variables["token_embedding"]
        embedded = tf.gather(table, tokens) + variables["position_embedding"]
        hidden = forward(size, variables, tf.reshape(embedded, (-1, size["width"])), mask)
        logits = tf.matmul(hidden, table, transpose_b=True)
        labels = tf.reshape(targets, (-1,))
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    return variable_training(loss, parameters, transform, OPTIMIZER, attention=ATTENTION)
