"""Implements transformer-train in Keras: ReversibleEmbedding around the stack of transformer-encoder."""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import training
from ...frameworks.keras.versions import ops
from ..transformer_encoder.keras import attention_form, order, stack
from . import OPTIMIZER


class Positions(layers.Layer):
    """Adds learned positions."""

    def build(self, shape):
        self.embedding = self.add_weight(shape=shape[1:], name="positions")

    def call(self, hidden):
        return hidden + self.embedding


class Reversible(layers.Embedding):
    """An embedding whose weights also map back, which Keras 2 lacks."""

    def call(self, inputs, reverse=False):
        if not reverse:
            return super().call(inputs)
        return ops.matmul(inputs, ops.cast(self.embeddings, inputs.dtype), transpose_b=True)


def network(size):
    """Make the model that maps tokens to logits."""
    tokens = keras.Input((size["sequence"],), dtype="int32")
    embedding = getattr(layers, "ReversibleEmbedding", Reversible)(size["vocabulary"], size["width"])
    hidden = stack(size, Positions()(embedding(tokens)), causal=True)
    return keras.Model(tokens, embedding(hidden, reverse=True))


def names(size):
    """Name the parameters in the order in which the model has them."""
    return ["token_embedding", "position_embedding", *order(size)]


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    return training(network(size), parameters, transform, optimizer, names(size), attention=attention_form())
