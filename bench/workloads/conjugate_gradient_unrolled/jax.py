"""Implements conjugate-gradient-unrolled in JAX: a lax.fori_loop of blocks that are loops of Python."""

from __future__ import annotations

from ..conjugate_gradient import jax as rolled
from ..grid import unrolled
from ..stencil_unrolled.jax import loop_for


def build(size, parameters, batch, transform):
    each = unrolled(size["iterations"])
    return rolled.build(size, parameters, batch, transform, each=each, loop=loop_for(transform.mode))
