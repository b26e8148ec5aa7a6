"""Implements dispatch as a graph of TensorFlow: a Python loop, which unrolls."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow1.adapter import inference
from . import cycle


def build(size, parameters, batch, transform):
    def chain(variables, values):
        links = cycle(size, variables)
        for _ in range(size["cycles"]):
            for weight, bias, offset in links:
                values = tf.tanh(values * weight + bias) - offset
        return {"values": values}

    return inference(chain, parameters, transform)
