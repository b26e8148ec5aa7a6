"""Implements conv2d in TensorFlow: tf.nn.conv2d in NHWC, which its CPU kernels need."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference


def convolve(variables, images):
    return {"convolved": tf.nn.conv2d(images, variables["weight"], strides=1, padding="SAME")}


def build(size, parameters, batch, transform):
    return inference(convolve, parameters, transform, layout="NHWC")
