"""Implements stencil in JAX: a lax.fori_loop with two grids in a frame of zeros, written in turn.

A grid that is padded anew in every iteration took 2.7 times as long.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from ...frameworks.jax.adapter import inference


def build(size, parameters, batch, transform):
    turns, rest = divmod(size["iterations"], 2)
    assert not rest, "the iterations of a size must be even: each turn of the loop does two"

    def diffuse(parameters, grid):
        rate = parameters["rate"]

        def sweep(old, new):
            neighbours = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
            return new.at[1:-1, 1:-1].set((1 - 4 * rate) * old[1:-1, 1:-1] + rate * neighbours)

        def turn(_, grids):
            old, new = grids
            new = sweep(old, new)
            return sweep(new, old), new

        framed = jnp.pad(grid, 1)
        return {"grid": lax.fori_loop(0, turns, turn, (framed, jnp.zeros_like(framed)))[0][1:-1, 1:-1]}

    return inference(diffuse, parameters, transform)
