"""Implements transformer-encoder in JAX: pure functions, which transformer-train uses too."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
from jax import lax

from ...frameworks.jax import attention as kernels
from ...frameworks.jax.adapter import inference
from ...frameworks.jax.compiler import JITTED
from .. import attention

#: The form of ``attend`` without a kernel of cuDNN's.
ATTENTION = kernels.COMPOSED
#: With JAX 0.4.30 training took 5 to 8 times as long where the weights of attention were divided late; not with 0.5.3.
DIVIDES_LATE = jax.__version_info__ >= (0, 5)


def layer_norm(hidden, scale, shift):
    """Normalise the last axis, with statistics in float32 or wider, as flax does."""
    wide = hidden.astype(jnp.promote_types(hidden.dtype, jnp.float32))
    mean = wide.mean(axis=-1, keepdims=True)
    variance = jnp.square(wide - mean).mean(axis=-1, keepdims=True)
    normal = (wide - mean) * (lax.rsqrt(variance + attention.EPSILON) * scale) + shift
    return normal.astype(hidden.dtype)


def layer_norm_op_by_op(hidden, scale, shift):
    """Do the same by functions that JAX has compiled: with ``layer_norm``, transformer-train took 1.2 times as long."""
    wide = hidden.astype(jnp.promote_types(hidden.dtype, jnp.float32))
    variance = jnp.var(wide, axis=-1, keepdims=True)
    normal = jax.nn.standardize(wide, axis=-1, variance=variance, epsilon=attention.EPSILON)
    return (normal * scale + shift).astype(hidden.dtype)


def of_mode(function, mode, form=ATTENTION):
    """Return a ``function`` like ``forward`` with the normalisation of a mode, and with a ``form`` of attention."""
    return functools.partial(function, normalise=layer_norm if mode in JITTED else layer_norm_op_by_op, form=form)


def form_of(size, parameters, transform, causal, training=False):
    """Return the form of attention: ``fused`` where cuDNN has a kernel for the heads."""
    shape = (size["batch"], size["sequence"], size["heads"], size["width"] // size["heads"])
    return kernels.form(shape, parameters["final_norm.scale"].dtype, transform, causal, training)


def attend(projected, size, causal, form=ATTENTION):
    """Mix the values of projected (batch · sequence, 3 · width) by softmax attention.

    Without cuDNN the attention is composed, because jax.nn.dot_product_attention is on a processor: it took as long
    forward, and 1.1 to 1.4 times as long with its gradient.
    """
    sequence, heads, width = size["sequence"], size["heads"], size["width"]
    split = projected.reshape(-1, sequence, 3, heads, width // heads)
    if form == kernels.FUSED:
        return kernels.attend(split[:, :, 0], split[:, :, 1], split[:, :, 2], causal).reshape(-1, width)
    queries, keys, values = split.transpose(2, 0, 3, 1, 4)
    scores = jnp.einsum("bhqc,bhkc->bhqk", queries * queries.shape[-1] ** -0.5, keys)
    if causal:
        visible = jnp.tril(jnp.ones((sequence, sequence), bool))
        scores = jnp.where(visible, scores, -jnp.inf)
    return mix(scores, values).swapaxes(1, 2).reshape(-1, width)


def mix(scores, values):
    """Mix values (batch, heads, keys, channels) by the softmax of scores (batch, heads, queries, keys).

    Except in old versions, the weights are divided by their sum after the product with the values, which are fewer.
    """
    if not DIVIDES_LATE:
        return jnp.einsum("bhqk,bhkc->bhqc", jax.nn.softmax(scores), values)
    weights = jnp.exp(scores - lax.stop_gradient(scores.max(axis=-1, keepdims=True)))
    return jnp.einsum("bhqk,bhkc->bhqc", weights, values) / weights.sum(axis=-1, keepdims=True)


def gelu(hidden):
    """Apply the exact GELU by erf, as PyTorch does; jax.nn.gelu computes both branches of erfc."""
    return 0.5 * hidden * (1 + lax.erf(hidden * 0.5**0.5))


def forward(size, parameters, hidden, causal, normalise=layer_norm, form=ATTENTION):
    """Map hidden (batch, sequence, width) through the blocks and the final normalisation.

    Batch and sequence become one axis. With two, XLA on a processor copies and transposes every slope for the product
    that is a weight's gradient: a step of gpt-train (small) took 1.3 times as long.
    """

    def norm(name, hidden):
        return normalise(hidden, parameters[name + ".scale"], parameters[name + ".shift"])

    def linear(name, hidden):
        return hidden @ parameters[name + ".weight"] + parameters[name + ".bias"]

    hidden = hidden.reshape(-1, size["width"])
    for index in range(size["layers"]):
        block = "block%d." % index
        projected = norm(block + "attention_norm", hidden) @ parameters[block + "qkv.weight"]
        hidden = hidden + linear(block + "output", attend(projected, size, causal, form))
        wide = gelu(linear(block + "expand", norm(block + "feedforward_norm", hidden)))
        hidden = hidden + linear(block + "contract", wide)
    return norm("final_norm", hidden)


def build(size, parameters, batch, transform):
    form = form_of(size, parameters, transform, causal=False)
    forward_of_mode = of_mode(forward, transform.mode, form)

    def encode(parameters, hidden):
        return {"hidden": forward_of_mode(size, parameters, hidden, causal=False).reshape(hidden.shape)}

    return inference(encode, parameters, transform, attention=form)
