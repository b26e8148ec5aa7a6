"""Implements transformer-encoder in Haiku: layers around a composed attention.

hk.MultiHeadAttention has three products in place of one, so the layer is made of dense layers.
"""

from __future__ import annotations

import haiku as hk

from ...frameworks.haiku.adapter import inference
from ...frameworks.haiku.programs import KINDS
from .. import attention, transformer
from .jax import ATTENTION, attend, gelu


def norm(name):
    return hk.LayerNorm(-1, create_scale=True, create_offset=True, eps=attention.EPSILON, name=name)


class Block(hk.Module):
    def __init__(self, size, causal, name):
        super().__init__(name=name)
        self.size, self.causal = size, causal

    def __call__(self, hidden):
        layers = {
            name: hk.Linear(columns, with_bias=biased, name=name)
            for name, _, columns, biased in transformer.linear_shapes(self.size)
        }
        projected = layers["qkv"](norm("attention_norm")(hidden))
        hidden = hidden + layers["output"](attend(projected, self.size, self.causal))
        wide = gelu(layers["expand"](norm("feedforward_norm")(hidden)))
        return hidden + layers["contract"](wide)


def stack(size, hidden, causal):
    """Apply the blocks and the final normalisation, whose modules are made in the call.

    Batch and sequence are one axis in between, as in JAX.
    """
    shape = hidden.shape
    hidden = hidden.reshape(-1, shape[-1])
    for index in range(size["layers"]):
        hidden = Block(size, causal, name="block%d" % index)(hidden)
    return norm("final_norm")(hidden).reshape(shape)


def paths(names):
    """Return the paths of a stack's parameters."""
    found = {}
    for name in names:
        *place, kind = name.split(".")
        found[name] = ("/".join(place), KINDS[kind])
    return found


def build(size, parameters, batch, transform):
    def encode(hidden):
        return stack(size, hidden, causal=False)

    return inference(encode, paths(parameters), parameters, transform, "hidden", attention=ATTENTION)
