"""Chooses and finds out whether JAX computes on a processor before a call returns, or afterwards on another thread.

Asynchronous dispatch, JAX's default, pays for a handover to another thread in every step (openxla/xla issue 18608).
"""

from __future__ import annotations

import contextlib
import functools

import jax
import numpy as np

INLINE, ASYNCHRONOUS = "inline", "asynchronous"
#: A product of matrices of this order takes long enough to be seen unfinished.
ORDER = 512
#: Products tried: this thread may lose the processor until one is finished.
TRIALS = 5


def choose(dispatch):
    """Ask for a dispatch on a processor; before JAX first uses it.

    Not every version follows: 0.4.13 lacks the option, and computed products in the call, as 0.4.30 did either way.
    """
    with contextlib.suppress(AttributeError):
        jax.config.update("jax_cpu_enable_async_dispatch", dispatch == ASYNCHRONOUS)


@functools.lru_cache(maxsize=None)
def found():
    """Find out which dispatch is in force by looking at results when their calls return; on a GPU there is one only."""
    if jax.default_backend() != "cpu":
        return ASYNCHRONOUS
    matrix = jax.device_put(np.ones((ORDER, ORDER), np.float32))
    product = jax.jit(lambda matrix: matrix @ matrix)
    product(matrix).block_until_ready()
    ready = []
    for _ in range(TRIALS):
        result = product(matrix)
        ready.append(result.is_ready())
        result.block_until_ready()
    return INLINE if all(ready) else ASYNCHRONOUS


def overlaps():
    """Tell whether steps that do not depend on each other may be computed at the same time.

    A GPU computes what one process asks for in order.
    """
    return jax.default_backend() == "cpu" and found() == ASYNCHRONOUS
