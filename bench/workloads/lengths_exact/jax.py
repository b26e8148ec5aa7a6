"""Implements lengths-exact in JAX: a jitted function, which compiles each shape that it is called with."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ...frameworks.jax.adapter import inference
from ...program import Unsupported
from ..sequence_lengths import calls, names


def encode(parameters, tokens, length=None):
    """Encode tokens (batch, longest), of which ``length`` count, or all of them."""
    hidden = parameters["table"][tokens]
    queries, keys, values = jnp.split(hidden @ parameters["qkv"], 3, axis=-1)
    scores = jnp.einsum("bqc,bkc->bqk", queries * queries.shape[-1] ** -0.5, keys)
    visible = None if length is None else jnp.arange(tokens.shape[1]) < length
    if visible is not None:
        scores = jnp.where(visible, scores, -jnp.inf)
    hidden = hidden + jax.nn.softmax(scores) @ values @ parameters["output"]
    hidden = hidden + jax.nn.relu(hidden @ parameters["expand"]) @ parameters["contract"]
    if visible is None:
        return hidden.mean(axis=1)
    return (visible / length).astype(hidden.dtype) @ hidden


def build(size, parameters, batch, transform):
    if transform.mode == "jit-async":
        raise Unsupported("the calls of a step would overlap; use jit")

    def called(function, **options):
        one = transform(function, **options)

        def step(parameters, *batch):
            return {name: one(parameters, *given) for name, given in zip(names(size), calls(size, batch))}

        return step

    return inference(encode, parameters, transform.calling(called))
