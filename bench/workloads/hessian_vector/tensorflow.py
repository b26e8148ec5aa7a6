"""Implements hessian-vector in TensorFlow: a GradientTape in another one."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.programs import DIFFERENTIATED


def loss(variables, inputs, labels):
    count, hidden = len(variables) // 2, inputs
    for index in range(count):
        hidden = tf.nn.bias_add(tf.matmul(hidden, variables["weight%d" % index]), variables["bias%d" % index])
        if index < count - 1:
            hidden = tf.tanh(hidden)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=hidden))


def multiply(variables, inputs, labels, *vectors):
    names = list(variables)
    values = [tf.convert_to_tensor(variables[name]) for name in names]
    with tf.GradientTape(watch_accessed_variables=False) as outer:
        outer.watch(values)
        with tf.GradientTape(watch_accessed_variables=False) as inner:
            inner.watch(values)
            value = loss(dict(zip(names, values)), inputs, labels)
        gradients = inner.gradient(value, values)
    return dict(zip(names, outer.gradient(gradients, values, output_gradients=list(vectors))))


def build(size, parameters, batch, transform):
    return inference(multiply, parameters, transform, not_frozen=DIFFERENTIATED)
