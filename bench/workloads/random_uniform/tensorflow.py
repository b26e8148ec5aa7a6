"""Implements random-uniform in TensorFlow: tf.random, whose operations keep a state; for XLA, a Generator."""

from __future__ import annotations

from ...frameworks.tensorflow.adapter import inference
from ..random_normal.tensorflow import source


def build(size, parameters, batch, transform):
    uniform = source(transform.mode).uniform

    def draw(variables, seed):
        return {"draws": uniform((size["draws"],))}

    return inference(draw, parameters, transform)
