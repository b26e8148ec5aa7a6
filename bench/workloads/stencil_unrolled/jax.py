"""Implements stencil-unrolled in JAX: a lax.fori_loop of blocks that are loops of Python; op by op only such loops."""

from __future__ import annotations

from jax import lax

from ..grid import unrolled
from ..stencil import jax as rolled


def in_python(start, stop, turn, state):
    """Do as lax.fori_loop does, which is compiled also where everything else runs op by op."""
    for index in range(start, stop):
        state = turn(index, state)
    return state


def loop_for(mode):
    return in_python if mode == "eager" else lax.fori_loop


def build(size, parameters, batch, transform):
    each = unrolled(size["iterations"])
    return rolled.build(size, parameters, batch, transform, each=each, loop=loop_for(transform.mode))
