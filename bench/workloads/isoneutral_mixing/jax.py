"""Implements isoneutral-mixing in JAX: the specification's formulas with the functions of jax.numpy."""

from __future__ import annotations

import functools

from ...frameworks.jax.adapter import inference
from ..equation_of_state.jax import OPERATIONS
from . import advance


def build(size, parameters, batch, transform):
    return inference(functools.partial(advance, OPERATIONS), parameters, transform)
