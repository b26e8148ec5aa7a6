"""Implements hessian-vector in JAX: jax.jvp of jax.grad."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from ...frameworks.jax.adapter import inference


def loss(parameters, inputs, labels):
    count, hidden = len(parameters) // 2, inputs
    for index in range(count):
        hidden = hidden @ parameters["weight%d" % index] + parameters["bias%d" % index]
        if index < count - 1:
            hidden = jnp.tanh(hidden)
    return optax.softmax_cross_entropy_with_integer_labels(hidden, labels).mean()


def build(size, parameters, batch, transform):
    names = list(parameters)

    def multiply(parameters, inputs, labels, *vectors):
        gradient = jax.grad(lambda parameters: loss(parameters, inputs, labels))
        return jax.jvp(gradient, (parameters,), (dict(zip(names, vectors)),))[1]

    return inference(multiply, parameters, transform)
