"""Implements transcendental-chain in TensorFlow."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from . import OFFSET


def chain(variables, inputs):
    affine = inputs * variables["scale"] + variables["shift"]
    square = affine * affine
    return {"output": tf.tanh(affine) * tf.exp(-square) + tf.math.log(square + OFFSET)}


def build(size, parameters, batch, transform):
    return inference(chain, parameters, transform)
