"""Implements scatter-add in JAX: jax.ops.segment_sum."""

from __future__ import annotations

import jax

from ...frameworks.jax.adapter import inference


def build(size, parameters, batch, transform):
    def add(parameters, rows, groups):
        return {"sums": jax.ops.segment_sum(rows, groups, num_segments=size["groups"])}

    return inference(add, parameters, transform)
