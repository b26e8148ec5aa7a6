"""Forms of per-sample gradients in TensorFlow, for all modes: by rows and by layers."""

from __future__ import annotations

import tensorflow as tf

from bench.workloads.per_sample_gradients.tensorflow import by_layers, differentiate

MODULE = "bench.workloads.per_sample_gradients.tensorflow:"


def broadcast_layers(variables, inputs, labels):
    """Differentiate by layers, with products that broadcast in place of products of matrices."""
    count, hidden, given, sums = len(variables) // 2, inputs, [], []
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        for index in range(count):
            given.append(hidden)
            total = tf.nn.bias_add(tf.matmul(hidden, variables[f"weight{index}"]), variables[f"bias{index}"])
            tape.watch(total)
            sums.append(total)
            hidden = tf.nn.relu(total) if index < count - 1 else total
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=hidden)
    found = {}
    for index, (row, slope) in enumerate(zip(given, tape.gradient(losses, sums), strict=True)):
        found[f"weight{index}"] = tf.expand_dims(row, 2) * tf.expand_dims(slope, 1)
        found[f"bias{index}"] = slope
    return found


def everywhere(function):
    return {MODULE + "by_layers": function, MODULE + "differentiate": function}


FORMS = {
    "rows": everywhere(differentiate),
    "layers": everywhere(by_layers),
    "broadcasting layers": everywhere(broadcast_layers),
}
