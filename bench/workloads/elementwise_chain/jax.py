"""Implements elementwise-chain in JAX."""

from __future__ import annotations

import jax.numpy as jnp

from ...frameworks.jax.adapter import inference


def chain(parameters, inputs):
    scaled = inputs * parameters["scale"]
    above = jnp.maximum(scaled, parameters["floor"]) - inputs
    return {"output": jnp.maximum(jnp.minimum(scaled * above, inputs) + above, inputs) * above}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
