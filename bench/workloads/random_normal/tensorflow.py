"""Implements random-normal in TensorFlow: tf.random, whose operations keep a state; a Generator where XLA has all."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import WHOLE
from ..random_draws import SEED


def source(mode):
    """Return what draws. A Generator keeps its state in a variable, which only XLA handles as fast as tf.random's,
    where it compiles the whole step."""
    return tf.random.Generator.from_seed(SEED, alg="philox") if mode in WHOLE else tf.random


def build(size, parameters, batch, transform):
    normal = source(transform.mode).normal

    def draw(variables, seed):
        return {"draws": normal((size["draws"],))}

    return inference(draw, parameters, transform)
