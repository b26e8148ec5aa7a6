"""States the facts about Haiku, a library of neural networks for JAX whose modules are made pure functions."""

from __future__ import annotations

from ..facts import Facts, Mode
from ..jax.facts import FACTS as JAX

FACTS = Facts(
    product="Haiku",
    distribution="dm-haiku",
    import_name="haiku",
    modes=(Mode("jit", part="step", first_call_s=0.5, compile_s=1.4, caches_on_disk=True),),
    variables=JAX.variables,
    cache_variables=JAX.cache_variables,
    variable_prefixes=JAX.variable_prefixes,
    companions=("jax", "optax"),
)
