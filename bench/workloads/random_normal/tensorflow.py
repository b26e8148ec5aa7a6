"""Implements random-normal in TensorFlow: tf.random, whose operations keep a state; for XLA, a Generator."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import BY_XLA
from ..random_draws import SEED


def source(mode):
    """Return what draws. A Generator keeps its state in a variable, which only XLA handles as fast as tf.random's."""
    return tf.random.Generator.from_seed(SEED, alg="philox") if mode in BY_XLA else tf.random


def build(size, parameters, batch, transform):
    normal = source(transform.mode).normal

    def draw(variables, seed):
        return {"draws": normal((size["draws"],))}

    return inference(draw, parameters, transform)
