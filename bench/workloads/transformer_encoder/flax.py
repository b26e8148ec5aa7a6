"""Implements transformer-encoder in Flax: layers of nnx and of linen around the attention of flax.

Its MultiHeadAttention has three products in place of one, so the layer is made of dense layers around the function that
it calls, dot_product_attention.
"""

from __future__ import annotations

import jax.numpy as jnp
from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, inference
from .. import attention, transformer
from .jax import gelu

#: The form of flax' attention.
ATTENTION = "composed"


def attend(projected, sequence, heads, causal, function):
    """Mix the values of projected (batch · sequence, 3 · width) with flax' ``function``."""
    width = projected.shape[-1] // 3
    split = projected.reshape(-1, sequence, 3, heads, width // heads)
    mask = jnp.tril(jnp.ones((1, 1, sequence, sequence), bool)) if causal else None
    mixed = function(split[:, :, 0], split[:, :, 1], split[:, :, 2], mask=mask)
    return mixed.reshape(-1, width)


def apply_block(layers, hidden, mix):
    """Apply a block's ``layers``, {name: layer}, and its attention to hidden (batch · sequence, width)."""
    hidden = hidden + layers["output"](mix(layers["qkv"](layers["attention_norm"](hidden))))
    wide = gelu(layers["expand"](layers["feedforward_norm"](hidden)))
    return hidden + layers["contract"](wide)


class Block(nnx.Module):
    def __init__(self, size, causal, dtype, rngs):
        self.sequence, self.heads, self.causal = size["sequence"], size["heads"], causal
        for name, rows, columns, biased in transformer.linear_shapes(size):
            setattr(self, name, nnx.Linear(rows, columns, use_bias=biased, dtype=dtype, rngs=rngs))
        for name in ("attention_norm", "feedforward_norm"):
            setattr(self, name, nnx.LayerNorm(size["width"], epsilon=attention.EPSILON, dtype=dtype, rngs=rngs))

    def __call__(self, hidden):
        def mix(projected):
            return attend(projected, self.sequence, self.heads, self.causal, nnx.dot_product_attention)

        return apply_block(vars(self), hidden, mix)


class Stack(nnx.Module):
    """The blocks and the final normalisation. Batch and sequence are one axis in between, as in JAX."""

    def __init__(self, size, causal, dtype, rngs):
        self.count = size["layers"]
        for index in range(self.count):
            setattr(self, "block%d" % index, Block(size, causal, dtype, rngs))
        self.final_norm = nnx.LayerNorm(size["width"], epsilon=attention.EPSILON, dtype=dtype, rngs=rngs)

    def __call__(self, hidden):
        shape = hidden.shape
        hidden = hidden.reshape(-1, shape[-1])
        for index in range(self.count):
            hidden = getattr(self, "block%d" % index)(hidden)
        return self.final_norm(hidden).reshape(shape)


class LinenBlock(linen.Module):
    size: dict
    causal: bool
    dtype: object

    @linen.compact
    def __call__(self, hidden):
        layers = {
            name: linen.Dense(columns, use_bias=biased, dtype=self.dtype, name=name)
            for name, _, columns, biased in transformer.linear_shapes(self.size)
        }
        for name in ("attention_norm", "feedforward_norm"):
            layers[name] = linen.LayerNorm(attention.EPSILON, dtype=self.dtype, name=name)

        def mix(projected):
            sequence, heads = self.size["sequence"], self.size["heads"]
            return attend(projected, sequence, heads, self.causal, linen.dot_product_attention)

        return apply_block(layers, hidden, mix)


class LinenStack(linen.Module):
    size: dict
    causal: bool
    dtype: object

    @linen.compact
    def __call__(self, hidden):
        shape = hidden.shape
        hidden = hidden.reshape(-1, shape[-1])
        for index in range(self.size["layers"]):
            hidden = LinenBlock(self.size, self.causal, self.dtype, name="block%d" % index)(hidden)
        return linen.LayerNorm(attention.EPSILON, dtype=self.dtype, name="final_norm")(hidden).reshape(shape)


def paths(names, within=()):
    """Return the paths of a stack's parameters, which lie below ``within``."""
    found = {}
    for name in names:
        *place, kind = name.split(".")
        found[name] = (*within, *place, KINDS[kind])
    return found


def build(size, parameters, batch, transform):
    dtype = batch[0].dtype
    models = {"nnx": lambda rngs: Stack(size, False, dtype, rngs), "linen": LinenStack(size, False, dtype)}
    return inference(models, paths(parameters), parameters, transform, "hidden", attention=ATTENTION)
