"""Forms of lengths-* in TensorFlow: batch and tokens as one axis."""

from __future__ import annotations

import tensorflow as tf

MODULE = "bench.workloads.lengths_exact.tensorflow:"


def encode_one_axis(variables, tokens, length=None):
    """Multiply by the weights with batch and tokens as one axis."""
    width = variables["table"].shape[-1]
    batch, longest = tokens.shape[0], tf.shape(tokens)[1]
    hidden = tf.gather(variables["table"], tf.reshape(tokens, (-1,)))
    projected = tf.reshape(tf.matmul(hidden, variables["qkv"]), (batch, longest, 3 * width))
    queries, keys, values = tf.split(projected, 3, axis=-1)
    scores = tf.matmul(queries * width**-0.5, keys, transpose_b=True)
    visible = None if length is None else tf.range(longest) < length
    if visible is not None:
        scores = tf.where(visible, scores, scores.dtype.min)
    mixed = tf.reshape(tf.matmul(tf.nn.softmax(scores), values), (-1, width))
    hidden = hidden + tf.matmul(mixed, variables["output"])
    hidden = hidden + tf.matmul(tf.nn.relu(tf.matmul(hidden, variables["expand"])), variables["contract"])
    hidden = tf.reshape(hidden, (batch, longest, width))
    if visible is None:
        return tf.reduce_mean(hidden, axis=1)
    return tf.linalg.matvec(hidden, tf.cast(visible, hidden.dtype) / tf.cast(length, hidden.dtype), transpose_a=True)


FORMS = {"one axis": {MODULE + "encode": encode_one_axis}}
