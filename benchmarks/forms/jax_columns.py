"""Forms of ocean models' kernels in JAX: parts that XLA may join with their uses, and levels that are stacked.

Those of turbulent-kinetic-energy have fewer parts apart than the present program, that of isoneutral-mixing has more.
"""

from __future__ import annotations

import jax.numpy as jnp

from bench.workloads.turbulent_kinetic_energy import jax as present

OPERATIONS = "bench.workloads.turbulent_kinetic_energy.jax:COMPILED"
FORMS = {
    "jax.numpy": {OPERATIONS: present.OPERATIONS},
    "parts joined": {OPERATIONS: present.COMPILED._replace(concatenate=jnp.concatenate)},
    "parts apart": {
        "bench.workloads.isoneutral_mixing.jax:OPERATIONS": present.OPERATIONS._replace(concatenate=present.concatenate)
    },
    "levels stacked": {OPERATIONS: present.COMPILED._replace(stack=jnp.stack)},
}
