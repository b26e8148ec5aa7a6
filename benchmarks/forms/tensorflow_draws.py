"""Forms of random draws in TensorFlow: generators with and without a state, algorithms, and the normal distribution."""

from __future__ import annotations

import functools

import tensorflow as tf

from bench.workloads.random_draws import SEED
from bench.workloads.random_normal.tensorflow import drawing as present

DRAWING = "bench.workloads.random_normal.tensorflow:drawing"


def by_state(algorithm, mode, distribution):
    """Draw by a Generator, or by tf.random without an algorithm."""
    source = tf.random.Generator.from_seed(SEED, alg=algorithm) if algorithm else tf.random
    draw = getattr(source, distribution)
    return lambda count, seed: draw((count,))


def by_seed(algorithm, mode, distribution):
    draw = getattr(tf.random, "stateless_" + distribution)
    return lambda count, seed: draw((count,), tf.pad(seed, [[0, 1]]), alg=algorithm)


def inverted(mode, distribution):
    """Draw normal numbers as jax.random does: the inverse of their distribution function at uniform draws."""
    drawn = present(mode, "uniform")
    if distribution == "uniform":
        return drawn
    # Uniform draws may be 0.
    return lambda count, seed: 2**0.5 * tf.math.erfinv(tf.maximum(2 * drawn(count, seed) - 1, 2**-24 - 1))


FORMS = {
    "stateful Philox": {DRAWING: functools.partial(by_state, "philox")},
    "stateful Threefry": {DRAWING: functools.partial(by_state, "threefry")},
    "tf.random": {DRAWING: functools.partial(by_state, None)},
    "stateless Philox": {DRAWING: functools.partial(by_seed, "philox")},
    "inverse": {DRAWING: inverted},
}
