"""Implements lengths-exact in TensorFlow: a tf.function whose length is open; XLA compiles each length."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..sequence_lengths import calls, names


def encode(variables, tokens, length=None):
    """Encode tokens (batch, longest), of which ``length`` count, or all of them."""
    hidden = tf.gather(variables["table"], tokens)
    queries, keys, values = tf.split(tf.matmul(hidden, variables["qkv"]), 3, axis=-1)
    scores = tf.matmul(queries * queries.shape[-1] ** -0.5, keys, transpose_b=True)
    visible = None if length is None else tf.range(tf.shape(tokens)[1]) < length
    if visible is not None:
        scores = tf.where(visible, scores, scores.dtype.min)
    hidden = hidden + tf.matmul(tf.matmul(tf.nn.softmax(scores), values), variables["output"])
    hidden = hidden + tf.matmul(tf.nn.relu(tf.matmul(hidden, variables["expand"])), variables["contract"])
    if visible is None:
        return tf.reduce_mean(hidden, axis=1)
    return tf.linalg.matvec(hidden, tf.cast(visible, hidden.dtype) / tf.cast(length, hidden.dtype), transpose_a=True)


def build(size, parameters, batch, transform):
    # Padded tokens come with their length, and have few shapes.
    is_open = len(batch) == size["lengths"] and transform.mode in ("function", "function-frozen", "function-concrete")
    signature = [tf.TensorSpec((size["batch"], None), tf.int32)] if is_open else None

    def called(function, **options):
        one = transform(function, signature=signature, **options)
        return lambda *batch: {name: one(*given) for name, given in zip(names(size), calls(size, batch))}

    return inference(encode, parameters, transform.calling(called))
