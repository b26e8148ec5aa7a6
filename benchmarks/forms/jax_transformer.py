"""Forms of the transformer in JAX: axes of the hidden states and of a cache, GELU, normalisations, products.

Each differs from the present form in one thing; ``before`` is the form until 2026-11-25, which differs in all.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from bench.workloads import attention
from bench.workloads.transformer_encoder import jax as present
from bench.workloads.transformer_encoder.jax import layer_norm

MODULE = "bench.workloads.transformer_encoder.jax:"


def erfc(hidden):
    return jax.nn.gelu(hidden, approximate=False)


def norm_by_squares(hidden, scale, shift):
    """Normalise with the mean of the squares less the square of the mean, as Flax does by default."""
    mean = hidden.mean(axis=-1, keepdims=True)
    variance = jnp.square(hidden).mean(axis=-1, keepdims=True) - jnp.square(mean)
    return (hidden - mean) * (lax.rsqrt(variance + attention.EPSILON) * scale) + shift


def visible(scores, causal):
    sequence = scores.shape[-1]
    return jnp.where(jnp.tril(jnp.ones((sequence, sequence), bool)), scores, -jnp.inf) if causal else scores


def heads_second(projected, size, causal, form=None):
    """Attend with heads after positions, and with weights that were divided by their sum."""
    split = projected.reshape(-1, size["sequence"], 3, size["heads"], size["width"] // size["heads"])
    queries, keys, values = split[:, :, 0], split[:, :, 1], split[:, :, 2]
    scores = visible(jnp.einsum("bqhc,bkhc->bhqk", queries * queries.shape[-1] ** -0.5, keys), causal)
    return jnp.einsum("bhqk,bkhc->bqhc", jax.nn.softmax(scores), values).reshape(-1, size["width"])


def library_attention(projected, size, causal, form=None):
    """Attend with JAX's own function."""
    split = projected.reshape(-1, size["sequence"], 3, size["heads"], size["width"] // size["heads"])
    mixed = jax.nn.dot_product_attention(split[:, :, 0], split[:, :, 1], split[:, :, 2], is_causal=causal)
    return mixed.reshape(-1, size["width"])


def library_softmax(projected, size, causal, form=None):
    """Attend with heads before positions, and with weights that were divided by their sum."""
    split = projected.reshape(-1, size["sequence"], 3, size["heads"], size["width"] // size["heads"])
    queries, keys, values = split.transpose(2, 0, 3, 1, 4)
    scores = visible(jnp.einsum("bhqc,bhkc->bhqk", queries * queries.shape[-1] ** -0.5, keys), causal)
    mixed = jnp.einsum("bhqk,bhkc->bhqc", jax.nn.softmax(scores), values)
    return mixed.swapaxes(1, 2).reshape(-1, size["width"])


def three_axes(size, parameters, hidden, causal, normalise=layer_norm, form=None):
    """Map hidden (batch, sequence, width) with batch and sequence as two axes."""

    def norm(name, hidden):
        return layer_norm(hidden, parameters[name + ".scale"], parameters[name + ".shift"])

    def linear(name, hidden):
        return hidden @ parameters[name + ".weight"] + parameters[name + ".bias"]

    for index in range(size["layers"]):
        block = f"block{index}."
        projected = norm(block + "attention_norm", hidden) @ parameters[block + "qkv.weight"]
        hidden = hidden + linear(block + "output", present.attend(projected, size, causal).reshape(hidden.shape))
        wide = present.gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden = hidden + linear(block + "contract", wide)
    return norm("final_norm", hidden).reshape(-1, size["width"])


def one_hot(logits, labels):
    chosen = jax.nn.one_hot(labels, logits.shape[-1], dtype=logits.dtype)
    return -(chosen * jax.nn.log_softmax(logits)).sum(-1)


@jax.custom_vjp
def product(inputs, weight):
    """Multiply two matrices; the gradient of the second is a product with a transposed copy of the first."""
    return inputs @ weight


def product_backward(kept, slope):
    inputs, weight = kept
    return slope @ weight.T, lax.optimization_barrier(inputs.T) @ slope


product.defvjp(lambda inputs, weight: (inputs @ weight, (inputs, weight)), product_backward)


@jax.custom_vjp
def logits_of(hidden, table):
    return hidden @ table.T


def logits_backward(kept, slope):
    hidden, table = kept
    return slope @ table, lax.optimization_barrier(slope.T) @ hidden


logits_of.defvjp(lambda hidden, table: (hidden @ table.T, (hidden, table)), logits_backward)


def copied(size, parameters, hidden, causal):
    """Map hidden with products whose weights' gradients take transposed copies."""

    def norm(name, hidden):
        return layer_norm(hidden, parameters[name + ".scale"], parameters[name + ".shift"])

    def linear(name, hidden):
        return product(hidden, parameters[name + ".weight"]) + parameters[name + ".bias"]

    hidden = hidden.reshape(-1, size["width"])
    for index in range(size["layers"]):
        block = f"block{index}."
        projected = product(norm(block + "attention_norm", hidden), parameters[block + "qkv.weight"])
        hidden = hidden + linear(block + "output", present.attend(projected, size, causal))
        wide = present.gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden = hidden + linear(block + "contract", wide)
    return norm("final_norm", hidden)


def copied_predict(size, parameters, tokens, normalise=layer_norm, form=None):
    table = parameters["token_embedding"]
    return logits_of(copied(size, parameters, table[tokens] + parameters["position_embedding"], causal=True), table)


AXES = "bench.workloads.kv_decode.jax:axes_of_cache"
TRAIN = "bench.workloads.transformer_train.jax:forward"
FORMS = {
    "erfc": {MODULE + "gelu": erfc, "bench.workloads.kv_decode.jax:gelu": erfc},
    "mean of squares": {MODULE + "layer_norm": norm_by_squares},
    "softmax": {MODULE + "attend": library_softmax},
    "late division": {MODULE + "DIVIDES_LATE": True},
    "softmax; heads second": {MODULE + "attend": heads_second},
    "dot_product_attention": {MODULE + "attend": library_attention},
    "three axes": {MODULE + "forward": three_axes, TRAIN: three_axes},
    "cache; heads first": {AXES: lambda size: "bhkc"},
    "cache; positions first": {AXES: lambda size: "bkhc"},
    "transposed copies": {"bench.workloads.transformer_train.jax:predict": copied_predict},
    "one-hot labels": {"optax:softmax_cross_entropy_with_integer_labels": one_hot},
    "before": {
        MODULE + "gelu": erfc,
        MODULE + "attend": heads_second,
        MODULE + "forward": three_axes,
        TRAIN: three_axes,
    },
}
