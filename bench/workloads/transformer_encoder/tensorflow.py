"""Implements transformer-encoder in TensorFlow: functions of variables, which transformer-train uses too."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from .. import attention


def layer_norm(hidden, scale, shift):
    """Normalise the last axis in float32, as Keras does.

    Keras' function, tf.nn.moments and the fused batch normalisation are not faster: see docs/fairness.md.
    """
    wide = tf.cast(hidden, tf.float32)
    centred = wide - tf.reduce_mean(wide, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    normal = centred * tf.math.rsqrt(variance + attention.EPSILON)
    return tf.cast(normal * tf.cast(scale, tf.float32) + tf.cast(shift, tf.float32), hidden.dtype)


#: The form of ``attend``.
ATTENTION = "composed"


def causal_mask(sequence, dtype):
    """Return what is added to the scores (sequence, sequence): minus infinity for later positions, elsewhere 0."""
    return tf.constant(np.triu(np.full((sequence, sequence), -np.inf), 1), dtype)


def attend(projected, size, mask):
    """Mix the values of projected (batch · sequence, 3 · width) by softmax attention.

    ``mask`` is added to the scores; None leaves all positions visible. The attention is composed, because
    keras.ops.dot_product_attention is: on a processor it took, forward or with its gradient, 1.2 to 1.8 times as long
    op by op, 1.0 to 1.3 times in a tf.function and 0.9 to 1.1 times with XLA.
    """
    sequence, heads, width = size["sequence"], size["heads"], size["width"]
    split = tf.reshape(projected, (-1, sequence, 3, heads, width // heads))
    queries, keys, values = tf.unstack(tf.transpose(split, (2, 0, 3, 1, 4)))
    scores = tf.matmul(queries * (width // heads) ** -0.5, keys, transpose_b=True)
    if mask is not None:
        scores += tf.cast(mask, scores.dtype)
    mixed = tf.matmul(tf.nn.softmax(scores), values)
    return tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (-1, width))


def gelu(hidden):
    """Apply the exact GELU by erf, as PyTorch does; tf.nn.gelu computes erfc, for which XLA computes both branches.

    With tf.nn.gelu transformer-encoder took 1.06 and 1.08 times as long with XLA, in two runs, and as long in a
    tf.function; transformer-train took 1.01 to 1.05 times as long.
    """
    return 0.5 * hidden * (1.0 + tf.math.erf(hidden * 0.5**0.5))


def forward(size, variables, hidden, mask=None):
    """Map hidden (batch · sequence, width) through the blocks and the final normalisation.

    Batch and sequence stay one axis, since TensorFlow multiplies matrices faster than batches of them by one matrix.
    """

    def norm(name, hidden):
        return layer_norm(hidden, variables[name + ".scale"], variables[name + ".shift"])

    def linear(name, hidden):
        return tf.nn.bias_add(tf.matmul(hidden, variables[name + ".weight"]), variables[name + ".bias"])

    for index in range(size["layers"]):
        block = "block%d." % index
        projected = tf.matmul(norm(block + "attention_norm", hidden), variables[block + "qkv.weight"])
        hidden += linear(block + "output", attend(projected, size, mask))
        wide = gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden += linear(block + "contract", wide)
    return norm("final_norm", hidden)


def build(size, parameters, batch, transform):
    def encode(variables, hidden):
        flat = forward(size, variables, tf.reshape(hidden, (-1, size["width"])))
        return {"hidden": tf.reshape(flat, hidden.shape)}

    return inference(encode, parameters, transform, attention=ATTENTION)
