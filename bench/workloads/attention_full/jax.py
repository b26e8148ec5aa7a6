"""Implements attention-full in JAX: products and a softmax, as jax.nn.dot_product_attention is on a processor."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ...frameworks.jax.adapter import inference
from ..transformer_encoder.jax import ATTENTION
from . import CAUSAL


def build(size, parameters, batch, transform, causal=CAUSAL):
    def attend(parameters, queries, keys, values):
        scores = jnp.einsum("bhqc,bhkc->bhqk", queries * queries.shape[-1] ** -0.5, keys)
        if causal:
            visible = jnp.tril(jnp.ones(scores.shape[-2:], bool))
            scores = jnp.where(visible, scores, -jnp.inf)
        return {"mixed": jnp.einsum("bhqk,bhkc->bhqc", jax.nn.softmax(scores), values)}

    return inference(attend, parameters, transform, attention=ATTENTION)
