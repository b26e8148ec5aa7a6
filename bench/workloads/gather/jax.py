"""Implements gather in JAX: indexing."""

from __future__ import annotations

from ...frameworks.jax.adapter import inference


def gather(parameters, table, indices):
    return {"rows": table[indices]}


def build(size, parameters, batch, transform):
    return inference(gather, parameters, transform)
