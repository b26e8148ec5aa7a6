"""Implements random-uniform in JAX: jax.random.uniform with a key of its own in each step."""

from __future__ import annotations

import jax

from ...frameworks.jax.adapter import inference
from ..random_normal.jax import new_key


def build(size, parameters, batch, transform):
    def draw(parameters, seed):
        return {"draws": jax.random.uniform(new_key(seed[0]), (size["draws"],))}

    return inference(draw, parameters, transform)
