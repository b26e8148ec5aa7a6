"""Implements transformer-encoder in Keras: its layers in a functional model.

Keras' MultiHeadAttention has a bias in all of its projections or in none, and the specification in one of them, so the
layer is made of Dense layers around the operation that it calls.
"""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import inference
from ...frameworks.keras.versions import BACKEND, THREE, ops
from .. import attention, transformer


def norm():
    return layers.LayerNormalization(epsilon=attention.EPSILON)


def attend(size, hidden, causal):
    """Unstack hidden (batch, sequence, 3 · width) into queries, keys and values by heads, and mix the values.

    The gradient of a slice is an array of zeros around it, of which there would be three; that of unstacking is joined.
    """
    heads, width = size["heads"], size["width"]
    stacked = layers.Reshape((size["sequence"], 3, heads, width // heads))(hidden)
    return mix(size, ops.unstack(stacked, 3, axis=2), causal)


def mix(size, parts, causal):
    """Mix the values by Keras' own attention: fused on PyTorch, composed on TensorFlow, and on JAX as Keras chooses."""
    mixed = (ops.dot_product_attention if THREE else with_layers)(*parts, is_causal=causal)
    return layers.Reshape((size["sequence"], size["width"]))(mixed)


def with_layers(queries, keys, values, is_causal):
    """Mix the values with the layer of Keras 2, which has no such operation and wants the heads first."""
    scaled = queries * queries.shape[-1] ** -0.5
    first = [layers.Permute((2, 1, 3))(each) for each in (scaled, values, keys)]
    return layers.Permute((2, 1, 3))(layers.Attention()(first, use_causal_mask=is_causal))


def stack(size, hidden, causal):
    """Map hidden (batch, sequence, width) through the blocks and the final normalisation."""
    for _ in range(size["layers"]):
        linear = {
            name: layers.Dense(columns, use_bias=biased) for name, _, columns, biased in transformer.linear_shapes(size)
        }
        mixed = attend(size, linear["qkv"](norm()(hidden)), causal)
        hidden = hidden + linear["output"](mixed)
        wide = keras.activations.gelu(linear["expand"](norm()(hidden)), approximate=False)
        hidden = hidden + linear["contract"](wide)
    return norm()(hidden)


def order(size):
    """Name the parameters in the order in which the model has them."""
    names = []
    for index in range(size["layers"]):
        block = "block%d." % index
        names += [block + "attention_norm.scale", block + "attention_norm.shift", block + "qkv.weight"]
        names += [block + "output.weight", block + "output.bias"]
        names += [block + "feedforward_norm.scale", block + "feedforward_norm.shift"]
        names += [block + name + "." + kind for name in ("expand", "contract") for kind in ("weight", "bias")]
    return [*names, "final_norm.scale", "final_norm.shift"]


def attention_form():
    """Return the form on a processor; on JAX the settings read it back."""
    return "fused" if BACKEND == "torch" else "composed"


def build(size, parameters, batch, transform):
    inputs = keras.Input(batch[0].shape[1:])
    model = keras.Model(inputs, stack(size, inputs, causal=False))
    return inference(model, parameters, transform, "hidden", order(size), attention=attention_form())
