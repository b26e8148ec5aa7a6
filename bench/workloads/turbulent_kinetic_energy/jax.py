"""Implements turbulent-kinetic-energy in JAX: the specification's formulas with the functions of jax.numpy.

What is compiled computes an array of several parts on its own, before it is used. XLA otherwise computes its parts
inside of the loop that uses it, which then chooses a part for each element: JAX 0.10 took 1.7 (tiny) and 1.9 times
(small) as long. Levels are written into one array: stacking them took 1.7 times as long in JAX 0.4 (small).
"""

from __future__ import annotations

import functools

import jax.numpy as jnp
from jax import lax

from ...frameworks.jax.adapter import inference
from ..equation_of_state.jax import OPERATIONS
from . import advance

#: Before JAX 0.4.31 it had no public name, and XLA's loops were as fast with parts inside.
apart = getattr(lax, "optimization_barrier", lambda array: array)


def concatenate(arrays, axis):
    return apart(jnp.concatenate(arrays, axis))


def stack(arrays, axis):
    """Stack arrays along a new first axis."""
    assert axis == 0
    stacked = jnp.zeros((len(arrays), *arrays[0].shape), arrays[0].dtype)
    for index, array in enumerate(arrays):
        stacked = stacked.at[index].set(array)
    return stacked


COMPILED = OPERATIONS._replace(concatenate=concatenate, stack=stack)


def build(size, parameters, batch, transform):
    operations = OPERATIONS if transform.mode == "eager" else COMPILED
    return inference(functools.partial(advance, operations), parameters, transform)
