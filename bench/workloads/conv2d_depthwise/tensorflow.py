"""Implements conv2d-depthwise in TensorFlow: tf.nn.depthwise_conv2d in NHWC, nine shifted products for XLA."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import WHOLE


def convolve(variables, images):
    weight = tf.expand_dims(variables["weight"], -1)
    return {"convolved": tf.nn.depthwise_conv2d(images, weight, strides=(1, 1, 1, 1), padding="SAME")}


def shifted(variables, images):
    """Add up nine shifted products, which XLA makes one loop of.

    Its convolution with a group for each channel took 40 times as long on a processor (245 and 5.9 ms in size small).
    """
    # A sum in bfloat16 would be rounded nine times.
    wide = tf.float32 if images.dtype.size < 4 else images.dtype
    weight = tf.cast(variables["weight"], wide)
    height, width = weight.shape[:2]
    rows, columns = images.shape[1:3]
    edges = ((0, 0), (height // 2, height // 2), (width // 2, width // 2), (0, 0))
    framed = tf.pad(tf.cast(images, wide), edges)
    terms = [
        framed[:, row : row + rows, column : column + columns] * weight[row, column]
        for row in range(height)
        for column in range(width)
    ]
    return {"convolved": tf.cast(tf.add_n(terms), images.dtype)}


def build(size, parameters, batch, transform):
    on_processor = not tf.config.get_visible_devices("GPU")
    function = shifted if transform.mode in WHOLE and on_processor else convolve
    return inference(function, parameters, transform, layout="NHWC")
