"""Implements lstm-lm-train in Keras: Embedding, LSTM and Dense layers in a Sequential model."""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import training
from ...frameworks.keras.last import Logits
from ...frameworks.keras.versions import BACKEND
from . import OPTIMIZER

#: Size tiny, one thread: in TensorFlow a loop takes 1.39 of the time of the unrolled layer. In JAX the unrolled one
#: took 2.75 of the time of a loop with biases. PyTorch's layer is always unrolled.
UNROLLED = BACKEND != "jax"


def build(size, parameters, batch, transform):
    width, vocabulary = size["width"], size["vocabulary"]
    recurrent = [
        layers.LSTM(width, return_sequences=True, use_bias=False, unroll=UNROLLED) for _ in range(size["layers"])
    ]
    ends = layers.Embedding(vocabulary, width), Logits(vocabulary)
    model = keras.Sequential([keras.Input((size["sequence"],), dtype="int32"), ends[0], *recurrent, ends[1]])
    return training(model, parameters, transform, OPTIMIZER)
