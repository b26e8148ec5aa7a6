"""Implements dispatch in TensorFlow: a Python loop, which tf.function unrolls."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.compiler import FROZEN
from . import cycle


def build(size, parameters, batch, transform):
    def chain(variables, values):
        if transform.mode != FROZEN:
            # Read each variable once; operations on the variable itself would read it every time.
            variables = {name: variable.value() for name, variable in variables.items()}
        links = cycle(size, variables)
        for _ in range(size["cycles"]):
            for weight, bias, offset in links:
                # Functions, because the operators * and - take nearly twice as long on eager tensors.
                values = tf.subtract(tf.tanh(tf.add(tf.multiply(values, weight), bias)), offset)
        return {"values": values}

    return inference(chain, parameters, transform)
