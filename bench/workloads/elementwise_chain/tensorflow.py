"""Implements elementwise-chain in TensorFlow."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def chain(variables, inputs):
    scaled = inputs * variables["scale"]
    above = tf.maximum(scaled, variables["floor"]) - inputs
    return {"output": tf.maximum(tf.minimum(scaled * above, inputs) + above, inputs) * above}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
