"""Implements lstm-lm-train in Keras: Embedding, LSTM and Dense layers in a Sequential model."""

from __future__ import annotations

import keras
from keras import layers

from ...frameworks.keras.adapter import training
from ...frameworks.keras.versions import BACKEND, ops
from ...frameworks.precisions import MIXED
from . import OPTIMIZER

#: Size tiny, one thread: in TensorFlow a loop takes 1.39 of the time of the unrolled layer. In JAX the unrolled one
#: took 2.75 of the time of a loop with biases. PyTorch's layer is always unrolled.
UNROLLED = BACKEND != "jax"


class Logits(layers.Dense):
    """Adds the bias in float32: in bfloat16 its gradient, a sum over all rows, was a quarter off in size small."""

    def call(self, inputs, training=None):
        return ops.cast(ops.matmul(inputs, self.kernel), "float32") + ops.cast(self.bias, "float32")


def build(size, parameters, batch, transform):
    width, vocabulary = size["width"], size["vocabulary"]
    recurrent = [
        layers.LSTM(width, return_sequences=True, use_bias=False, unroll=UNROLLED) for _ in range(size["layers"])
    ]
    last = Logits if transform.precision == MIXED else layers.Dense
    ends = layers.Embedding(vocabulary, width), last(vocabulary)
    model = keras.Sequential([keras.Input((size["sequence"],), dtype="int32"), ends[0], *recurrent, ends[1]])
    return training(model, parameters, transform, OPTIMIZER)
