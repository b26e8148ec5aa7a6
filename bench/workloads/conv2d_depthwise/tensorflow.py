"""Implements conv2d-depthwise in TensorFlow: tf.nn.depthwise_conv2d in NHWC."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def convolve(variables, images):
    weight = tf.expand_dims(variables["weight"], -1)
    return {"convolved": tf.nn.depthwise_conv2d(images, weight, strides=(1, 1, 1, 1), padding="SAME")}


def build(size, parameters, batch, transform):
    return inference(convolve, parameters, transform, layout="NHWC")
