"""Implements hessian-vector in JAX: jax.jvp of jax.grad."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ...frameworks.jax import losses
from ...frameworks.jax.adapter import inference


def loss(parameters, inputs, labels, score):
    count, hidden = len(parameters) // 2, inputs
    for index in range(count):
        hidden = hidden @ parameters["weight%d" % index] + parameters["bias%d" % index]
        if index < count - 1:
            hidden = jnp.tanh(hidden)
    return score(hidden, labels)


def build(size, parameters, batch, transform):
    names, score = list(parameters), losses.of_mode(transform.mode)

    def multiply(parameters, inputs, labels, *vectors):
        gradient = jax.grad(lambda parameters: loss(parameters, inputs, labels, score))
        return jax.jvp(gradient, (parameters,), (dict(zip(names, vectors)),))[1]

    return inference(multiply, parameters, transform)
