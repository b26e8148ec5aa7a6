"""Attends by cuDNN's kernel where that is JAX's fast form: on NVIDIA GPUs, in bfloat16 and float16."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from .. import precisions
from . import gpu, parallel

FUSED, COMPOSED = "fused", "composed"


def attend(queries, keys, values, causal):
    """Attend with arrays (batch, positions, heads, channels), which is cuDNN's layout: nothing is transposed."""
    return jax.nn.dot_product_attention(queries, keys, values, is_causal=causal, implementation="cudnn")


def form(shape, dtype, transform, causal, training=False):
    """Return the form of attention for queries, keys and values of a shape: ``fused`` where cuDNN takes it.

    In mixed precision ``dtype`` is that of the weights, and the queries are narrower.
    """
    narrow = jnp.bfloat16 if transform.precision == precisions.MIXED else dtype
    return FUSED if takes(shape, narrow, transform.mode, causal, training) else COMPOSED


def takes(shape, dtype, mode, causal, training):
    """Tell whether cuDNN's kernel computes such attention, and its gradient where the cell trains.

    JAX's own checks are made while it traces: of the types, of the head's width, and of cuDNN. They leave out that the
    kernel needs compute capability 8.0. Old versions have no such function, or no such implementation. Modes that
    divide a step compose attention: there old versions let XLA partition the kernel.
    """
    if mode in parallel.MODES or jax.default_backend() != "gpu":
        return False
    found = gpu.capability(jax.devices()[0])
    if found is None or found < precisions.FIRST_CAPABILITY:
        return False
    function = functools.partial(attend, causal=causal)
    like = jax.ShapeDtypeStruct(shape, dtype)
    try:
        jax.eval_shape(gradient_of(function) if training else function, like, like, like)
    except (AttributeError, TypeError, ValueError, NotImplementedError, RuntimeError):
        return False
    return True


def gradient_of(function):
    return jax.grad(lambda *parts: function(*parts).astype(jnp.float32).sum(), argnums=(0, 1, 2))
