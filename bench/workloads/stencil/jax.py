"""Implements stencil in JAX: a lax.fori_loop with two grids in a frame of zeros, written in turn.

A grid that is padded anew in every iteration took 2.7 times as long.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from ...frameworks.jax.adapter import inference


def sweep(rate, old, new):
    """Do one iteration; return the grid that is written and the other one."""
    neighbours = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
    return new.at[1:-1, 1:-1].set((1 - 4 * rate) * old[1:-1, 1:-1] + rate * neighbours), old


def build(size, parameters, batch, transform, each=2, loop=lax.fori_loop):
    """Build it with ``each`` iterations in a turn of ``loop``."""
    turns, rest = divmod(size["iterations"], each)
    assert not rest, "the iterations of a size must be a multiple of those in a turn of the loop"

    def diffuse(parameters, grid):
        def turn(_, grids):
            for _ in range(each):
                grids = sweep(parameters["rate"], *grids)
            return grids

        framed = jnp.pad(grid, 1)
        return {"grid": loop(0, turns, turn, (framed, jnp.zeros_like(framed)))[0][1:-1, 1:-1]}

    return inference(diffuse, parameters, transform)
