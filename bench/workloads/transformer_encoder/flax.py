"""Implements transformer-encoder in Flax: layers of nnx and of linen around the attention of flax.

Its MultiHeadAttention has three products in place of one, so the layer is made of dense layers around the function that
it calls, dot_product_attention.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen, nnx

from ...frameworks.flax.adapter import KINDS, inference
from .. import attention, transformer

#: The form of flax' attention.
ATTENTION = "composed"


def attend(projected, heads, causal, function):
    """Mix the values of projected (batch, sequence, 3 · width) with flax' ``function``."""
    batch, sequence, columns = projected.shape
    split = projected.reshape(batch, sequence, 3, heads, columns // (3 * heads))
    mask = jnp.tril(jnp.ones((1, 1, sequence, sequence), bool)) if causal else None
    mixed = function(split[:, :, 0], split[:, :, 1], split[:, :, 2], mask=mask)
    return mixed.reshape(batch, sequence, columns // 3)


def apply_block(layers, hidden, heads, causal, function):
    """Apply a block's ``layers``, {name: layer}."""
    mixed = attend(layers["qkv"](layers["attention_norm"](hidden)), heads, causal, function)
    hidden = hidden + layers["output"](mixed)
    wide = jax.nn.gelu(layers["expand"](layers["feedforward_norm"](hidden)), approximate=False)
    return hidden + layers["contract"](wide)


class Block(nnx.Module):
    def __init__(self, size, causal, dtype, rngs):
        self.heads, self.causal = size["heads"], causal
        for name, rows, columns, biased in transformer.linear_shapes(size):
            setattr(self, name, nnx.Linear(rows, columns, use_bias=biased, dtype=dtype, rngs=rngs))
        for name in ("attention_norm", "feedforward_norm"):
            setattr(self, name, nnx.LayerNorm(size["width"], epsilon=attention.EPSILON, dtype=dtype, rngs=rngs))

    def __call__(self, hidden):
        return apply_block(vars(self), hidden, self.heads, self.causal, nnx.dot_product_attention)


class Stack(nnx.Module):
    def __init__(self, size, causal, dtype, rngs):
        self.count = size["layers"]
        for index in range(self.count):
            setattr(self, "block%d" % index, Block(size, causal, dtype, rngs))
        self.final_norm = nnx.LayerNorm(size["width"], epsilon=attention.EPSILON, dtype=dtype, rngs=rngs)

    def __call__(self, hidden):
        for index in range(self.count):
            hidden = getattr(self, "block%d" % index)(hidden)
        return self.final_norm(hidden)


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
        return apply_block(layers, hidden, self.size["heads"], self.causal, linen.dot_product_attention)


class LinenStack(linen.Module):
    size: dict
    causal: bool
    dtype: object

    @linen.compact
    def __call__(self, hidden):
        for index in range(self.size["layers"]):
            hidden = LinenBlock(self.size, self.causal, self.dtype, name="block%d" % index)(hidden)
        return linen.LayerNorm(attention.EPSILON, dtype=self.dtype, name="final_norm")(hidden)


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
