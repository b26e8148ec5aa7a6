"""Implements lstm-lm-train in Keras: Embedding, LSTM and Dense layers in a Sequential model."""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import training
from . import OPTIMIZER


def build(size, parameters, batch, transform):
    width, vocabulary = size["width"], size["vocabulary"]
    recurrent = [layers.LSTM(width, return_sequences=True, use_bias=False, unroll=True) for _ in range(size["layers"])]
    ends = layers.Embedding(vocabulary, width), layers.Dense(vocabulary)
    model = keras.Sequential([keras.Input((size["sequence"],), dtype="int32"), ends[0], *recurrent, ends[1]])
    return training(model, parameters, transform, OPTIMIZER)
