"""Implements equation-of-state in JAX: the specification's formula with the functions of jax.numpy."""

from __future__ import annotations

import jax.numpy as jnp

from ...frameworks.jax.adapter import inference
from ..ocean import Operations
from . import enthalpy_slope

OPERATIONS = Operations(
    jnp.sqrt, jnp.log1p, jnp.tanh, jnp.abs, jnp.maximum, jnp.minimum, jnp.where, jnp.concatenate, jnp.stack
)  # fmt: skip


def build(size, parameters, batch, transform):
    return inference(lambda parameters, *batch: enthalpy_slope(OPERATIONS, *batch), parameters, transform)
