"""Runs many training steps as one executable: a loop over batches that lie on the device."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

#: Batches that lie on the device together.
MOST_BATCHES = 8


def in_one(update, transform_step):
    """Return ``advance(state, batches)``, which calls one executable for all batches.

    The batches must repeat in rotation, as those of a benchmark do. Their number is an argument, so that one executable
    does any number of steps.
    """

    def loop(state, stacked, first, period, count):
        def body(index, carried):
            batch = jax.tree_util.tree_map(lambda array: array[(first + index) % period], stacked)
            return update(carried[0], *batch)

        value = jax.eval_shape(update, state, *jax.tree_util.tree_map(lambda array: array[0], stacked))[1]
        return lax.fori_loop(0, count, body, (state, jnp.zeros(value.shape, value.dtype)))

    transformed = transform_step(loop)
    rotation = Rotation()

    def advance(state, batches):
        first = rotation.first_of(batches)
        return transformed(state, rotation.stacked, first, rotation.period, len(batches))

    return advance


class Rotation:
    """The batches that runs were given so far, stacked on the device in the order in which they came."""

    def __init__(self):
        self._places = {}
        self._known = []
        self.stacked = ()

    @property
    def period(self):
        return len(self._known)

    def first_of(self, batches):
        """Return the place of the first batch. Raises ValueError where ``batches`` are not in rotation."""
        for batch in batches[:MOST_BATCHES]:
            # Batches are tuples of the same arrays, not the same tuples.
            if id(batch[0]) not in self._places:
                self._add(batch)
        places = self._places
        first, period = places[id(batches[0][0])], self.period
        if any(places.get(id(batch[0])) != (first + index) % period for index, batch in enumerate(batches)):
            raise ValueError("mode jit-loop needs batches that repeat in one order; use jit")
        return first

    def _add(self, batch):
        if self.period == MOST_BATCHES:
            raise ValueError("mode jit-loop holds {} batches and was given another one; use jit".format(MOST_BATCHES))
        self._places[id(batch[0])] = self.period
        self._known.append(batch)
        # Always as many, so that the executable stays the same.
        filled = self._known + [batch] * (MOST_BATCHES - self.period)
        self.stacked = tuple(jnp.stack(arrays) for arrays in zip(*filled))
