"""Forms of layernorm-softmax in TensorFlow: means of rows by a product with ones."""

from __future__ import annotations

import tensorflow as tf

from bench.workloads.layernorm_softmax import EPSILON

MODULE = "bench.workloads.{}.tensorflow:normalise"


def mean(rows):
    return tf.linalg.matvec(rows, tf.ones_like(rows[0]))[:, None] / rows.shape[-1]


def by_product(variables, inputs):
    centred = inputs - mean(inputs)
    logits = centred * tf.math.rsqrt(mean(tf.square(centred)) + EPSILON) * variables["scale"] + variables["shift"]
    return {"probabilities": tf.nn.softmax(logits)}


FORMS = {
    "by product": {MODULE.format(name): by_product for name in ("layernorm_softmax", "layernorm_softmax_backward")}
}
