"""Implements random-uniform in TensorFlow: a Generator, whose Philox keeps its state in a variable."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ..random_draws import SEED


def build(size, parameters, batch, transform):
    generator = tf.random.Generator.from_seed(SEED, alg="philox")

    def draw(variables, seed):
        return {"draws": generator.uniform((size["draws"],))}

    return inference(draw, parameters, transform)
