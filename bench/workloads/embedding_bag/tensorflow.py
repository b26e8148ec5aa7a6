"""Implements embedding-bag in TensorFlow: tf.gather and a sum."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def add(variables, indices):
    return {"sums": tf.reduce_sum(tf.gather(variables["table"], indices), axis=1)}


def build(size, parameters, batch, transform):
    return inference(add, parameters, transform)
