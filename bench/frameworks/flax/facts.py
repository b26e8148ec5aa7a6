"""States the facts about Flax, a library of neural networks for JAX."""

from __future__ import annotations

from ..facts import Facts, Mode
from ..jax.facts import FACTS as JAX

FACTS = Facts(
    product="Flax",
    distribution="flax",
    import_name="flax",
    modes=(
        # Modules as arguments of nnx.jit, as Flax's tutorials have it; their state split off for jax.jit, as its guide
        # to performance has it; and Flax's older API, which is functional.
        Mode("nnx", part="step", first_call_s=1.2, compile_s=4.2, caches_on_disk=True),
        Mode("nnx-functional", part="step", first_call_s=0.6, compile_s=1.0, caches_on_disk=True),
        Mode("linen", part="step", first_call_s=0.6, compile_s=0.9, caches_on_disk=True),
    ),
    variables=JAX.variables,
    cache_variables=JAX.cache_variables,
    variable_prefixes=JAX.variable_prefixes,
    companions=("jax", "optax"),
)
