"""Implements layernorm-softmax in JAX: standardize and softmax of jax.nn."""

from __future__ import annotations

import jax

from ...frameworks.jax.adapter import inference
from . import EPSILON


def normalise(parameters, inputs):
    normal = jax.nn.standardize(inputs, axis=-1, epsilon=EPSILON)
    return {"probabilities": jax.nn.softmax(normal * parameters["scale"] + parameters["shift"], axis=-1)}


def build(size, parameters, batch, transform):
    return inference(normalise, parameters, transform)
