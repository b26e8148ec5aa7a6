"""Implements mlp-train in JAX: pure functions with optax."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import functional_training
from . import OPTIMIZER


def loss(parameters, inputs, labels, product=jnp.matmul, score=losses.cross_entropy):
    count = len(parameters) // 2
    activations = inputs
    for index in range(count):
        activations = product(activations, parameters["weight%d" % index]) + parameters["bias%d" % index]
        if index < count - 1:
            activations = jax.nn.relu(activations)
    return score(activations, labels)


def build(size, parameters, batch, transform):
    scored = functools.partial(loss, score=losses.of_mode(transform.mode))
    return functional_training(scored, parameters, transform, OPTIMIZER)
