"""Forms of branch-if and branch-where in JAX: how the first row decides."""

from __future__ import annotations

import jax.numpy as jnp


def scalar_product(hidden, probe):
    return jnp.vdot(hidden[0], probe) > 0


FORMS = {"scalar product": {"bench.workloads.branch_if.jax:positive": scalar_product}}
