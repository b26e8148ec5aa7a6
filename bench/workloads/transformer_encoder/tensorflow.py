"""Implements transformer-encoder in TensorFlow: functions of variables, which transformer-train uses too."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from .. import attention


def layer_norm(hidden, scale, shift):
    """Normalise the last axis in float32, as Keras does.

    Keras, tf.nn.moments and the fused batch normalisation are slower eagerly and not faster compiled.
    """
    wide = tf.cast(hidden, tf.float32)
    centred = wide - tf.reduce_mean(wide, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    normal = centred * tf.math.rsqrt(variance + attention.EPSILON)
    return tf.cast(normal, hidden.dtype) * scale + shift


def attend(projected, size, visible):
    """Mix the values of projected (batch · sequence, 3 · width) by softmax attention.

    ``visible`` masks the pairs of positions; None leaves all visible.
    """
    batch, sequence, heads, width = size["batch"], size["sequence"], size["heads"], size["width"]
    split = tf.reshape(projected, (batch, sequence, 3, heads, width // heads))
    queries, keys, values = tf.unstack(tf.transpose(split, (2, 0, 3, 1, 4)))
    scores = tf.matmul(queries * (width // heads) ** -0.5, keys, transpose_b=True)
    if visible is not None:
        scores = tf.where(visible, scores, float("-inf"))
    mixed = tf.matmul(tf.nn.softmax(scores), values)
    return tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (batch * sequence, width))


def forward(size, variables, hidden, causal):
    """Map hidden (batch · sequence, width) through the blocks and the final normalisation.

    Batch and sequence stay one axis, since TensorFlow multiplies matrices faster than batches of them by one matrix.
    """

    def norm(name, hidden):
        return layer_norm(hidden, variables[name + ".scale"], variables[name + ".shift"])

    def linear(name, hidden):
        return tf.nn.bias_add(tf.matmul(hidden, variables[name + ".weight"]), variables[name + ".bias"])

    visible = tf.sequence_mask(tf.range(1, size["sequence"] + 1)) if causal else None
    for index in range(size["layers"]):
        block = "block%d." % index
        projected = tf.matmul(norm(block + "attention_norm", hidden), variables[block + "qkv.weight"])
        hidden += linear(block + "output", attend(projected, size, visible))
        wide = tf.nn.gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden += linear(block + "contract", wide)
    return norm("final_norm", hidden)


def build(size, parameters, batch, transform):
    def encode(variables, hidden):
        flat = forward(size, variables, tf.reshape(hidden, (-1, size["width"])), causal=False)
        return {"hidden": tf.reshape(flat, hidden.shape)}

    return inference(encode, parameters, transform)
