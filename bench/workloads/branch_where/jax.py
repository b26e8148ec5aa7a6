"""Implements branch-where in JAX: jnp.where."""

from __future__ import annotations

import functools

import jax.numpy as jnp

from ..branch_if import jax as branch


def selecting(condition, hidden, weights):
    return jnp.where(condition, branch.upper(hidden, weights), branch.lower(hidden, weights))


build = functools.partial(branch.build, choose=selecting)
