"""Implements layernorm-softmax-backward in TensorFlow: a GradientTape with output_gradients."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.programs import DIFFERENTIATED
from ..layernorm_softmax.tensorflow import normalise


def differentiate(variables, inputs, gradient):
    sources = dict(variables, inputs=inputs)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(sources)
        probabilities = normalise(variables, inputs)["probabilities"]
    return tape.gradient(probabilities, sources, output_gradients=gradient)


def build(size, parameters, batch, transform):
    return inference(differentiate, parameters, transform, not_frozen=DIFFERENTIATED)
