"""Implements mlp-train in JAX: pure functions with optax."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from ...frameworks.jax.adapter import functional_training
from . import OPTIMIZER


def loss(parameters, inputs, labels, product=jnp.matmul):
    count = len(parameters) // 2
    activations = inputs
    for index in range(count):
        activations = product(activations, parameters["weight%d" % index]) + parameters["bias%d" % index]
        if index < count - 1:
            activations = jax.nn.relu(activations)
    return optax.softmax_cross_entropy_with_integer_labels(activations, labels).mean()


def build(size, parameters, batch, transform):
    return functional_training(loss, parameters, transform, OPTIMIZER)
