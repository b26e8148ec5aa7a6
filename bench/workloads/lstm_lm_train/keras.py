"""Implements lstm-lm-train in Keras: Embedding, LSTM and Dense layers in a Sequential model."""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import training
from ...frameworks.keras.versions import BACKEND
from . import OPTIMIZER

#: In JAX a loop takes 0.36 of the time of the unrolled layer, in TensorFlow longer. PyTorch's layer is always unrolled.
UNROLLED = BACKEND != "jax"


def build(size, parameters, batch, transform):
    width, vocabulary = size["width"], size["vocabulary"]
    recurrent = [
        layers.LSTM(width, return_sequences=True, use_bias=False, unroll=UNROLLED) for _ in range(size["layers"])
    ]
    ends = layers.Embedding(vocabulary, width), layers.Dense(vocabulary)
    model = keras.Sequential([keras.Input((size["sequence"],), dtype="int32"), ends[0], *recurrent, ends[1]])
    return training(model, parameters, transform, OPTIMIZER)
