"""Forms of the stencil in JAX: iterations that XLA may join."""

FORMS = {"joined": {"bench.workloads.stencil.jax:apart": lambda grids: grids}}
