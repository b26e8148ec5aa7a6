"""Forms of turbulent-kinetic-energy in JAX: parts that XLA may join with their uses, and levels that are stacked."""

from __future__ import annotations

import jax.numpy as jnp

from bench.workloads.turbulent_kinetic_energy import jax as present

OPERATIONS = "bench.workloads.turbulent_kinetic_energy.jax:COMPILED"
FORMS = {
    "jax.numpy": {OPERATIONS: present.OPERATIONS},
    "parts joined": {OPERATIONS: present.COMPILED._replace(concatenate=jnp.concatenate)},
    "levels stacked": {OPERATIONS: present.COMPILED._replace(stack=jnp.stack)},
}
