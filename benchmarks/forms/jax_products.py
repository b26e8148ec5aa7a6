"""Forms of batched-gemm in JAX: a sum of outer products; a loop over the pairs."""

from __future__ import annotations

from jax import lax


def outer_products(parameters, left, right):
    return {"products": sum(left[:, :, place, None] * right[:, place, None] for place in range(left.shape[2]))}


def one_after_another(parameters, left, right):
    return {"products": lax.map(lambda pair: pair[0] @ pair[1], (left, right))}


MULTIPLY = "bench.workloads.batched_gemm.jax:multiply"
FORMS = {"outer products": {MULTIPLY: outer_products}, "loop": {MULTIPLY: one_after_another}}
