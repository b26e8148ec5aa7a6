"""Implements transformer-encoder as a graph of TensorFlow, from the functions that TensorFlow 2.x has."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow1.adapter import inference
from .tensorflow import ATTENTION, forward


def build(size, parameters, batch, transform):
    def encode(variables, hidden):
        flat = forward(size, variables, tf.reshape(hidden, (-1, size["width"])))
        return {"hidden": tf.reshape(flat, hidden.shape)}

    return inference(encode, parameters, transform, attention=ATTENTION)
