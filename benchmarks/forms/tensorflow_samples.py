"""Forms of per-sample gradients in TensorFlow, for all modes: by rows and by layers."""

from __future__ import annotations

import tensorflow as tf

from bench.workloads.per_sample_gradients.tensorflow import by_layers, differentiate

MODULE = "bench.workloads.per_sample_gradients.tensorflow:"


def broadcast(rows, columns):
    return tf.expand_dims(rows, 2) * tf.expand_dims(columns, 1)


def everywhere(function):
    return {MODULE + "by_layers": function, MODULE + "differentiate": function}


FORMS = {
    "rows": everywhere(differentiate),
    "layers": everywhere(by_layers),
    "broadcasting layers": {**everywhere(by_layers), MODULE + "outer": broadcast},
}
