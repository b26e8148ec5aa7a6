"""Forms of a Hessian's product in TensorFlow: forward over reverse."""

from __future__ import annotations

import tensorflow as tf

from bench.workloads.hessian_vector.tensorflow import loss


def forward_over_reverse(variables, inputs, labels, *vectors):
    names = list(variables)
    values = [tf.convert_to_tensor(variables[name]) for name in names]
    with tf.autodiff.ForwardAccumulator(values, list(vectors)) as accumulator:
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(values)
            value = loss(dict(zip(names, values, strict=True)), inputs, labels)
        gradients = tape.gradient(value, values)
    return dict(zip(names, accumulator.jvp(gradients), strict=True))


FORMS = {"forward over reverse": {"bench.workloads.hessian_vector.tensorflow:multiply": forward_over_reverse}}
