"""Implements transformer-encoder in JAX: pure functions, which transformer-train uses too."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ...frameworks.jax.adapter import inference
from .. import attention

#: The form of ``attend``.
ATTENTION = "composed"


def layer_norm(hidden, scale, shift):
    """Normalise the last axis, with statistics in float32 or wider, as flax does."""
    wide = hidden.astype(jnp.promote_types(hidden.dtype, jnp.float32))
    mean = wide.mean(axis=-1, keepdims=True)
    variance = jnp.square(wide - mean).mean(axis=-1, keepdims=True)
    normal = (wide - mean) * (jax.lax.rsqrt(variance + attention.EPSILON) * scale) + shift
    return normal.astype(hidden.dtype)


def attend(projected, heads, causal):
    """Mix the values of projected (batch, sequence, 3 · width) by softmax attention.

    The attention is composed, because jax.nn.dot_product_attention is on a processor: it took as long forward, and 1.1
    to 1.4 times as long with its gradient.
    """
    batch, sequence, columns = projected.shape
    split = projected.reshape(batch, sequence, 3, heads, columns // (3 * heads))
    queries, keys, values = split[:, :, 0], split[:, :, 1], split[:, :, 2]
    scores = jnp.einsum("bqhc,bkhc->bhqk", queries * queries.shape[-1] ** -0.5, keys)
    if causal:
        visible = jnp.tril(jnp.ones((sequence, sequence), bool))
        scores = jnp.where(visible, scores, -jnp.inf)
    return jnp.einsum("bhqk,bkhc->bqhc", jax.nn.softmax(scores), values).reshape(batch, sequence, columns // 3)


def forward(size, parameters, hidden, causal):
    """Map hidden (batch, sequence, width) through the blocks and the final normalisation."""

    def norm(name, hidden):
        return layer_norm(hidden, parameters[name + ".scale"], parameters[name + ".shift"])

    def linear(name, hidden):
        return hidden @ parameters[name + ".weight"] + parameters[name + ".bias"]

    for index in range(size["layers"]):
        block = "block%d." % index
        projected = norm(block + "attention_norm", hidden) @ parameters[block + "qkv.weight"]
        hidden = hidden + linear(block + "output", attend(projected, size["heads"], causal))
        wide = jax.nn.gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)), approximate=False)
        hidden = hidden + linear(block + "contract", wide)
    return norm("final_norm", hidden)


def build(size, parameters, batch, transform):
    def encode(parameters, hidden):
        return {"hidden": forward(size, parameters, hidden, causal=False)}

    return inference(encode, parameters, transform, attention=ATTENTION)
