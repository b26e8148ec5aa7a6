"""Implements branch-if in JAX: lax.cond; branch-where selects with jnp.where."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax.adapter import inference


def upper(hidden, weights):
    return jax.nn.relu(hidden @ weights[0])


def lower(hidden, weights):
    return jnp.tanh(hidden @ weights[1])


def positive(hidden, probe):
    """Tell whether the first row times the probe is above zero, by a product of all rows.

    XLA on a processor computes the scalar product of one row in two loops of its own, which take longer.
    """
    return (hidden @ probe)[0] > 0


def branching(condition, hidden, weights):
    return lax.cond(condition, upper, lower, hidden, weights)


def build(size, parameters, batch, transform, choose=branching):
    def compute(parameters, hidden):
        for index in range(size["layers"]):
            weights = parameters["upper%d" % index], parameters["lower%d" % index]
            hidden = choose(positive(hidden, parameters["probe%d" % index]), hidden, weights)
        return {"output": hidden}

    return inference(compute, parameters, transform)
