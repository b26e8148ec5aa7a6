"""Forms of reading and adding rows in JAX: what an index beyond the rows does, unsigned indices, loops, segments."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from bench.frameworks.jax.adapter import inference


def gathering(mode, dtype=jnp.int32):
    """Return the forms of gather and embedding-bag that index with ``mode`` and indices of ``dtype``."""

    def gather(parameters, table, indices):
        return {"rows": table.at[indices.astype(dtype)].get(mode=mode)}

    def add_in_turn(parameters, indices):
        table, indices = parameters["table"], indices.astype(dtype)
        return {"sums": sum(table.at[indices[:, place]].get(mode=mode) for place in range(indices.shape[1]))}

    return {
        "bench.workloads.gather.jax:gather": gather,
        "bench.workloads.embedding_bag.jax:add_in_turn": add_in_turn,
    }


def one_bag_after_another(parameters, indices):
    return {"sums": lax.map(lambda bag: parameters["table"][bag].sum(axis=0), indices)}


def adding(function):
    """Return the form of scatter-add that adds by ``function(rows, groups, count)``."""

    def build(size, parameters, batch, transform):
        def add(parameters, rows, groups):
            return {"sums": function(rows, groups, size["groups"])}

        return inference(add, parameters, transform)

    return {"bench.workloads.scatter_add.jax:build": build}


def in_loop(rows, groups, count):
    def add(index, sums):
        return sums.at[groups[index]].add(rows[index], mode="promise_in_bounds")

    return lax.fori_loop(0, len(rows), add, jnp.zeros((count, rows.shape[1]), rows.dtype))


def in_order(rows, groups, count):
    order = jnp.argsort(groups)
    return jax.ops.segment_sum(rows[order], groups[order], count, indices_are_sorted=True)


FORMS = {
    "promise": gathering("promise_in_bounds"),
    "clip": gathering("clip"),
    "unsigned": gathering("promise_in_bounds", jnp.uint32),
    "bags in a loop": {"bench.workloads.embedding_bag.jax:add_in_turn": one_bag_after_another},
    "sums promise": adding(lambda *given: jax.ops.segment_sum(*given, mode="promise_in_bounds")),
    "rows in a loop": adding(in_loop),
    "sorted": adding(in_order),
}
