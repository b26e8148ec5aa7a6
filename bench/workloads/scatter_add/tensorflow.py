"""Implements scatter-add in TensorFlow: tf.math.unsorted_segment_sum."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def build(size, parameters, batch, transform):
    def add(variables, rows, groups):
        return {"sums": tf.math.unsorted_segment_sum(rows, groups, size["groups"])}

    return inference(add, parameters, transform)
