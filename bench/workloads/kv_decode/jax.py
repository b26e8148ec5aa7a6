"""Implements kv-decode in JAX: a function of the prompt and a lax.scan over the tokens; caches have a fixed length."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax.adapter import inference
from ..transformer_encoder.jax import ATTENTION, gelu, layer_norm


def axes_of_cache(size):
    """Name the axes of a cache: batch, heads, positions (k) and channels.

    XLA on a processor copies the caches of several sequences to put the heads first: with them there, 8 sequences take
    0.6 of the time. One sequence takes 1.15 times as long with them there.
    """
    return "bhkc" if size["batch"] > 1 else "bkhc"


def advance(size, parameters, caches, tokens, start):
    """Read tokens (batch, count) from position ``start`` on; return the new caches and the logits after the last."""
    count, heads = tokens.shape[1], size["heads"]
    cached = axes_of_cache(size)
    axis, queried = cached.index("k"), cached.replace("k", "q")
    positions = start + jnp.arange(count)
    visible = jnp.arange(size["sequence"]) <= positions[:, None]

    def norm(name, hidden):
        return layer_norm(hidden, parameters[name + ".scale"], parameters[name + ".shift"])

    def linear(name, hidden):
        return hidden @ parameters[name + ".weight"] + parameters[name + ".bias"]

    rows = lax.dynamic_slice_in_dim(parameters["position_embedding"], start, count)
    hidden, found = parameters["token_embedding"][tokens] + rows, []
    for index, (keys, values) in enumerate(caches):
        block = "block%d." % index
        projected = norm(block + "attention_norm", hidden) @ parameters[block + "qkv.weight"]
        split = projected.reshape(*hidden.shape[:2], 3, heads, -1)
        split = split.swapaxes(1, 3) if cached == "bhkc" else split
        keys = lax.dynamic_update_slice_in_dim(keys, split[:, :, 1], start, axis)
        values = lax.dynamic_update_slice_in_dim(values, split[:, :, 2], start, axis)
        found.append((keys, values))
        scores = jnp.einsum(queried + "," + cached + "->bhqk", split[:, :, 0] * keys.shape[-1] ** -0.5, keys)
        weights = jax.nn.softmax(jnp.where(visible, scores, -jnp.inf))
        mixed = jnp.einsum("bhqk," + cached + "->bqhc", weights, values).reshape(hidden.shape)
        hidden = hidden + linear(block + "output", mixed)
        wide = gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden = hidden + linear(block + "contract", wide)
    return found, norm("final_norm", hidden[:, -1]) @ parameters["token_embedding"].T


def build(size, parameters, batch, transform):
    prompt, sequence = size["prompt"], size["sequence"]
    lengths = {"b": size["batch"], "h": size["heads"], "k": sequence, "c": size["width"] // size["heads"]}
    shape = tuple(lengths[axis] for axis in axes_of_cache(size))

    def decode(parameters, tokens):
        zeros = jnp.zeros(shape, parameters["token_embedding"].dtype)
        empty = [(zeros, zeros)] * size["layers"]
        caches, first = advance(size, parameters, empty, tokens[:, :prompt], 0)

        def step(caches, given):
            token, start = given
            return advance(size, parameters, caches, token[:, None], start)

        given = (tokens[:, prompt:].T, jnp.arange(prompt, sequence))
        _, others = lax.scan(step, caches, given)
        return {"logits": jnp.concatenate([first[:, None], others.swapaxes(0, 1)], axis=1)}

    return inference(decode, parameters, transform, attention=ATTENTION)
