"""Forms of inference in TensorFlow: the weights as constants of the graph, as in a frozen graph."""

from __future__ import annotations

import tensorflow as tf

from bench.frameworks.tensorflow.programs import given, naming_once


def with_constants(function, parameters, transform, layout=None, attention=None):
    """Make the program of a function of constants, which the graph holds, and not of variables."""
    arrays = {name: value.numpy() for name, value in parameters.items()}

    def compute(*batch):
        return function({name: tf.constant(array) for name, array in arrays.items()}, *batch)

    return naming_once(compute, transform, given(layout=layout, attention=attention))


FORMS = {
    "constants": {
        "bench.workloads.kv_decode.tensorflow:inference": with_constants,
        "bench.workloads.resnet18.tensorflow:inference": with_constants,
        "bench.workloads.transformer_encoder.tensorflow:inference": with_constants,
    }
}
