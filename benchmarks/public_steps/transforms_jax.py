"""Executes public functions and training steps as the documentation of each of JAX's modes does."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from repeated import holding

#: Batches that lie on the device together where one executable does many steps; ours holds as many.
BATCHES = 8


def jitted(function, mode, example, **options):
    """Return a function under jax.jit; with ``jit-aot``, its executable for the arguments ``example``.

    With ``eager`` it is called as it is, operation by operation. https://docs.jax.dev/en/latest/aot.html
    """
    if mode == "eager":
        return function
    made = jax.jit(function, **options)
    return made.lower(*example).compile() if mode == "jit-aot" else made


def training(update, state, mode, batch):
    """Return a step of ``update(state, *batch) -> (state, loss)``, which has its batch already."""
    if mode == "jit-loop":
        return Loop(update, state, batch)
    return holding(advancing(update, state, mode, batch), batch)


def advancing(update, state, mode, example):
    """Return the step of any batch; ``example`` is one like them."""
    transformed = jitted(update, mode, (state, *example), donate_argnums=0)
    current = [state]

    def step(*batch):
        current[0], value = transformed(current[0], *batch)
        return {"loss": value}

    return step


class Loop:
    """Steps that one executable does: lax.fori_loop over batches that are stacked, in as many turns as are asked for.

    The documentation's lax.scan would compile anew for every number of steps.
    """

    def __init__(self, update, state, batch):
        self.state = state
        self.load(batch)

        def steps(state, stacked, count):
            def body(index, carried):
                batch = jax.tree_util.tree_map(lambda array: array[index % BATCHES], stacked)
                return update(carried[0], *batch)

            value = jax.eval_shape(update, state, *batch)[1]
            return lax.fori_loop(0, count, body, (state, jnp.zeros(value.shape, value.dtype)))

        self._transformed = jax.jit(steps, donate_argnums=0)

    def load(self, batch):
        """Put as many copies of a batch on the device."""
        self._stacked = tuple(
            jax.tree_util.tree_map(lambda array: jnp.stack([array] * BATCHES), each) for each in batch
        )

    def run(self, batches):
        self.state, value = self._transformed(self.state, self._stacked, len(batches))
        return {"loss": value}
