"""Runs many training steps as one executable: a loop over batches that lie on the device."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ..rotation import Rotation


def at(array, place):
    return lax.dynamic_index_in_dim(array, place, keepdims=False)


def in_one(update, transform_step):
    """Return ``advance(state, batches)``, which calls one executable for all batches.

    The batches must repeat in rotation, as those of a benchmark do. Their number is an argument, so that one executable
    does any number of steps.
    """

    def loop(state, stacked, first, period, count):
        def body(index, carried):
            # Without a sign: every array's index would be looked at for being negative.
            place = lax.rem(first + index, period).astype(jnp.uint32)
            batch = jax.tree_util.tree_map(lambda array: at(array, place), stacked)
            return update(carried[0], *batch)

        value = jax.eval_shape(update, state, *jax.tree_util.tree_map(lambda array: array[0], stacked))[1]
        return lax.fori_loop(0, count, body, (state, jnp.zeros(value.shape, value.dtype)))

    transformed = transform_step(loop)
    rotation = Rotation("jit-loop", "jit", jnp.stack)

    def advance(state, batches):
        first = rotation.first_of(batches)
        return transformed(state, rotation.stacked, first, rotation.period, len(batches))

    return advance
