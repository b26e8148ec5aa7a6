"""Forms of inference in TensorFlow: the weights as constants of the graph, as in mode function-frozen."""

from __future__ import annotations

from bench.frameworks.tensorflow.programs import given, naming_once, with_constants


def frozen(function, parameters, transform, layout=None, attention=None):
    """Make the program of a function of constants, which the graph holds, and not of variables."""
    return naming_once(with_constants(function, parameters, []), transform, given(layout=layout, attention=attention))


FORMS = {
    "constants": {
        "bench.workloads.kv_decode.tensorflow:inference": frozen,
        "bench.workloads.resnet18.tensorflow:inference": frozen,
        "bench.workloads.transformer_encoder.tensorflow:inference": frozen,
    }
}
