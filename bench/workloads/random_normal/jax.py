"""Implements random-normal in JAX: jax.random.normal with a key of its own in each step."""

from __future__ import annotations

import jax

from ...frameworks.jax.adapter import inference

#: Since 0.4.16 there are typed keys. Op by op a draw with an untyped one took 1.3 times as long.
new_key = getattr(jax.random, "key", jax.random.PRNGKey)


def build(size, parameters, batch, transform):
    def draw(parameters, seed):
        return {"draws": jax.random.normal(new_key(seed[0]), (size["draws"],))}

    return inference(draw, parameters, transform)
