"""Forms of random draws in JAX: Threefry as it was before JAX 0.5, and XLA's own generator."""

from __future__ import annotations

import jax

from bench.frameworks.jax.adapter import inference


def drawing(draw):
    """Return the forms of both workloads that draw by ``draw(function, seed, shape)``."""

    def of(function):
        def build(size, parameters, batch, transform):
            shape = (size["draws"],)
            return inference(lambda parameters, seed: {"draws": draw(function, seed, shape)}, parameters, transform)

        return build

    return {
        "bench.workloads.random_normal.jax:build": of(jax.random.normal),
        "bench.workloads.random_uniform.jax:build": of(jax.random.uniform),
    }


def not_partitionable(function, seed, shape):
    with jax.threefry_partitionable(False):
        return function(jax.random.key(seed[0]), shape)


FORMS = {
    "not partitionable": drawing(not_partitionable),
    "rbg": drawing(lambda function, seed, shape: function(jax.random.key(seed[0], impl="rbg"), shape)),
}
