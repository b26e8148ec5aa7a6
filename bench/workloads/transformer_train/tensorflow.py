"""Implements transformer-train in TensorFlow: tf.Variable and GradientTape."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import cross_entropy, variable_training
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask, forward
from . import OPTIMIZER


def predict(size, variables, tokens, mask):
    """Compute the logits (batch · sequence, vocabulary) of the next tokens."""
    table = variables["token_embedding"]
    embedded = tf.gather(table, tokens) + variables["position_embedding"]
    hidden = forward(size, variables, tf.reshape(embedded, (-1, size["width"])), mask)
    return tf.matmul(hidden, table, transpose_b=True)


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    mask = causal_mask(size["sequence"], parameters["token_embedding"].dtype)

    def loss(variables, tokens, targets):
        logits = predict(size, variables, tokens, mask)
        labels = tf.reshape(targets, (-1,))
        return cross_entropy(labels, logits)

    return variable_training(loss, parameters, transform, optimizer, attention=ATTENTION)
