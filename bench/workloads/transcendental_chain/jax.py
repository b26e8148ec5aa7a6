"""Implements transcendental-chain in JAX."""

from __future__ import annotations

import jax.numpy as jnp

from ...frameworks.jax.adapter import inference
from . import OFFSET


def chain(parameters, inputs):
    affine = inputs * parameters["scale"] + parameters["shift"]
    square = affine * affine
    return {"output": jnp.tanh(affine) * jnp.exp(-square) + jnp.log(square + OFFSET)}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
