"""Implements random-uniform in JAX: jax.random.uniform with a key of its own in each step."""

from __future__ import annotations

import jax

from ...frameworks.jax.adapter import inference


def build(size, parameters, batch, transform):
    def draw(parameters, seed):
        return {"draws": jax.random.uniform(jax.random.PRNGKey(seed[0]), (size["draws"],))}

    return inference(draw, parameters, transform)
