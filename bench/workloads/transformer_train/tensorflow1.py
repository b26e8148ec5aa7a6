"""Implements transformer-train as a graph of TensorFlow, from the functions that TensorFlow 2.x has."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow1.adapter import training
from ..transformer_encoder.tensorflow import ATTENTION, causal_mask
from . import OPTIMIZER
from .tensorflow import predict


def build(size, parameters, batch, transform):
    dtype = parameters["token_embedding"].dtype

    def loss(variables, tokens, targets):
        logits = predict(size, variables, tokens, causal_mask(size["sequence"], dtype))
        labels = tf.reshape(targets, (-1,))
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    return training(loss, parameters, transform, OPTIMIZER, attention=ATTENTION)
