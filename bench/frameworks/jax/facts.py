"""States the facts about JAX."""

from __future__ import annotations

from ..facts import Facts, Mode, Release

FACTS = Facts(
    product="JAX",
    distribution="jax",
    import_name="jax",
    modes=(
        Mode("eager", part="step", compile_s=1.2, caches_on_disk=True),
        Mode("jit", part="step", first_call_s=0.2, compile_s=0.3, caches_on_disk=True, validated=True),
        # JAX's default on a processor, and many training steps in one executable.
        Mode("jit-async", part="step", first_call_s=0.2, compile_s=0.3, caches_on_disk=True),
        Mode("jit-loop", part="step", first_call_s=0.5, compile_s=2.0, caches_on_disk=True, places_batches=True),
        Mode("jit-aot", part="step", first_call_s=0.2, compile_s=0.3, caches_on_disk=True),
        # Training steps over two devices.
        Mode("pmap", part="step", first_call_s=0.2, compile_s=0.3, caches_on_disk=True, devices=2, places_batches=True),
        Mode(
            "shard-map",
            part="step",
            first_call_s=0.2,
            compile_s=0.3,
            caches_on_disk=True,
            devices=2,
            places_batches=True,
        ),
    ),
    # JAX sizes its pool by the processors to which a process is bound when it first computes.
    sets_threads=True,
    # The cells of a row share the GPU; JAX would take three quarters of it at once.
    variables={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    cache_variables={"JAX_COMPILATION_CACHE_DIR": "jax"},
    variable_prefixes=("JAX_", "XLA_", "PJRT_", "TF_"),
    companions=("flax", "optax"),
    # Until 0.4.30, a version of JAX accepts any later jaxlib, and breaks with it.
    releases=(
        Release("0.4.13", ("3.8", "3.11"), ("jaxlib=={version}", "optax", "numpy<2", "scipy<1.13"), source=True),
        Release("0.4.14", ("3.9", "3.11"), ("jaxlib=={version}", "optax", "numpy<2", "scipy<1.13")),
        Release("0.4.18", ("3.9", "3.12"), ("jaxlib=={version}", "optax", "numpy<2", "scipy<1.13")),
        Release("0.4.27", ("3.9", "3.12"), ("jaxlib=={version}", "optax")),
        Release("0.4.31", ("3.10", "3.12"), ("optax",)),
        Release("0.4.34", ("3.10", "3.13"), ("optax",)),
        Release("0.7", ("3.11", "3.13"), ("optax",)),
        Release("0.11", ("3.12", "3.14"), ("optax",)),
    ),
)
