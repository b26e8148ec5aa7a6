"""Forms of the transformer in TensorFlow: axes of tokens, layer normalisation, attention and its mask."""

from __future__ import annotations

import tensorflow as tf

from bench.workloads import attention
from bench.workloads.transformer_encoder import tensorflow as present

MODULE = "bench.workloads.transformer_encoder.tensorflow:"
TRAIN = "bench.workloads.transformer_train.tensorflow:"


def split_heads(projected, size):
    """Return queries, keys and values, with heads before positions."""
    heads = size["heads"]
    split = tf.reshape(projected, (-1, size["sequence"], 3, heads, size["width"] // heads))
    return tf.unstack(tf.transpose(split, (2, 0, 3, 1, 4)))


def attend_divided_late(projected, size, mask):
    """Divide the mixed values by the sum of the weights, as JAX does."""
    queries, keys, values = split_heads(projected, size)
    width = size["width"]
    scores = tf.matmul(queries * (width // size["heads"]) ** -0.5, keys, transpose_b=True)
    if mask is not None:
        scores += mask
    weights = tf.exp(scores - tf.stop_gradient(tf.reduce_max(scores, axis=-1, keepdims=True)))
    mixed = tf.matmul(weights, values) / tf.reduce_sum(weights, axis=-1, keepdims=True)
    return tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (-1, width))


def attend_heads_second(projected, size, mask):
    """Attend with heads after positions, by tf.einsum."""
    sequence, heads, width = size["sequence"], size["heads"], size["width"]
    split = tf.reshape(projected, (-1, sequence, 3, heads, width // heads))
    queries, keys, values = tf.unstack(split, axis=2)
    scores = tf.einsum("bqhc,bkhc->bhqk", queries * (width // heads) ** -0.5, keys)
    if mask is not None:
        scores += mask
    return tf.reshape(tf.einsum("bhqk,bkhc->bqhc", tf.nn.softmax(scores), values), (-1, width))


def attend_by_keras(projected, size, mask):
    """Attend with Keras' own function."""
    sequence, heads, width = size["sequence"], size["heads"], size["width"]
    split = tf.reshape(projected, (-1, sequence, 3, heads, width // heads))
    mixed = tf.keras.ops.dot_product_attention(*tf.unstack(split, axis=2), is_causal=mask is not None)
    return tf.reshape(mixed, (-1, width))


def attend_selected(projected, size, mask):
    """Attend with a mask that selects from the scores, in place of one that is added."""
    queries, keys, values = split_heads(projected, size)
    width = size["width"]
    scores = tf.matmul(queries * (width // size["heads"]) ** -0.5, keys, transpose_b=True)
    if mask is not None:
        scores = tf.where(tf.equal(mask, 0.0), scores, scores.dtype.min)
    return tf.reshape(tf.transpose(tf.matmul(tf.nn.softmax(scores), values), (0, 2, 1, 3)), (-1, width))


def layer_norm(hidden, scale, shift):
    """Normalise with one factor for the deviation and the scale, as JAX does."""
    centred = hidden - tf.reduce_mean(hidden, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    return centred * (tf.math.rsqrt(variance + attention.EPSILON) * scale) + shift


def norm_by_keras(hidden, scale, shift):
    """Normalise with the function of Keras' layer."""
    return tf.keras.ops.layer_normalization(hidden, scale, shift, epsilon=attention.EPSILON)


def norm_by_moments(hidden, scale, shift):
    """Normalise with TensorFlow's functions of moments and of what follows from them."""
    mean, variance = tf.nn.moments(hidden, axes=-1, keepdims=True)
    return tf.nn.batch_normalization(hidden, mean, variance, shift, scale, attention.EPSILON)


def norm_by_batch(hidden, scale, shift):
    """Normalise rows as channels with the fused batch normalisation, as Keras 2 does."""
    rows, width = tf.shape(hidden)[0], hidden.shape[1]
    normal, *_ = tf.compat.v1.nn.fused_batch_norm(
        tf.reshape(hidden, (1, rows, width, 1)),
        tf.fill((rows,), 1.0),
        tf.fill((rows,), 0.0),
        epsilon=attention.EPSILON,
        data_format="NCHW",
    )
    return tf.reshape(normal, tf.shape(hidden)) * scale + shift


def three_axes(size, variables, hidden, mask=None):
    """Map hidden with batch and sequence as two axes."""

    def norm(name, hidden):
        return present.layer_norm(hidden, variables[name + ".scale"], variables[name + ".shift"])

    def linear(name, hidden):
        return tf.nn.bias_add(tf.matmul(hidden, variables[name + ".weight"]), variables[name + ".bias"])

    hidden = tf.reshape(hidden, (-1, size["sequence"], size["width"]))
    shape = tf.shape(hidden)
    for index in range(size["layers"]):
        block = f"block{index}."
        projected = tf.matmul(norm(block + "attention_norm", hidden), variables[block + "qkv.weight"])
        hidden += linear(block + "output", tf.reshape(present.attend(projected, size, mask), shape))
        wide = present.gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden += linear(block + "contract", wide)
    return tf.reshape(norm("final_norm", hidden), (-1, size["width"]))


FORMS = {
    "divided late": {MODULE + "attend": attend_divided_late},
    "keras.ops": {MODULE + "attend": attend_by_keras},
    "selected": {MODULE + "attend": attend_selected},
    "heads second": {MODULE + "attend": attend_heads_second},
    "one factor": {MODULE + "layer_norm": layer_norm},
    "Keras' norm": {MODULE + "layer_norm": norm_by_keras},
    "moments": {MODULE + "layer_norm": norm_by_moments},
    "fused batch norm": {MODULE + "layer_norm": norm_by_batch},
    "three axes": {MODULE + "forward": three_axes, TRAIN + "forward": three_axes},
}
