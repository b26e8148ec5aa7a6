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
        return ops.matmul(inputs, self.embeddings, transpose_b=True) if reverse else super().call(inputs)


def build(size, parameters, batch, transform):
    tokens = keras.Input((size["sequence"],), dtype="int32")
    embedding = getattr(layers, "ReversibleEmbedding", Reversible)(size["vocabulary"], size["width"])
    hidden = stack(size, Positions()(embedding(tokens)), causal=True)
    model = keras.Model(tokens, embedding(hidden, reverse=True))
    names = ["token_embedding", "position_embedding", *order(size)]
    return training(model, parameters, transform, OPTIMIZER, names, attention=attention_form())
