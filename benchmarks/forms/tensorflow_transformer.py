"""Forms of the attention in TensorFlow: where softmax' division is, and how the mask is applied."""

from __future__ import annotations

import tensorflow as tf


def attend_divided_late(projected, size, mask):
    """Divide the mixed values by the sum of the weights, as JAX does."""
    sequence, heads, width = size["sequence"], size["heads"], size["width"]
    split = tf.reshape(projected, (-1, sequence, 3, heads, width // heads))
    queries, keys, values = tf.unstack(tf.transpose(split, (2, 0, 3, 1, 4)))
    scores = tf.matmul(queries * (width // heads) ** -0.5, keys, transpose_b=True)
    if mask is not None:
        scores += mask
    weights = tf.exp(scores - tf.stop_gradient(tf.reduce_max(scores, axis=-1, keepdims=True)))
    mixed = tf.matmul(weights, values) / tf.reduce_sum(weights, axis=-1, keepdims=True)
    return tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (-1, width))


FORMS = {"divided late": {"bench.workloads.transformer_encoder.tensorflow:attend": attend_divided_late}}
