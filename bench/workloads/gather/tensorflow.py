"""Implements gather in TensorFlow: tf.gather."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def gather(variables, table, indices):
    return {"rows": tf.gather(table, indices)}


def build(size, parameters, batch, transform):
    return inference(gather, parameters, transform)
