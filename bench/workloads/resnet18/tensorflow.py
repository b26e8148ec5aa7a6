"""Implements resnet18 in TensorFlow: functions of variables, in NHWC, which resnet18-train uses too."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import inference
from ...frameworks.tensorflow.clustering import BY_XLA
from ...frameworks.tensorflow.compiler import FROZEN
from .. import batch_norm, resnet


def edged(images, kernel):
    """Pad by half of a kernel at every edge; padding "SAME" is not symmetric where the stride is 2."""
    edge = kernel // 2
    return tf.pad(images, ((0, 0), (edge, edge), (edge, edge), (0, 0))) if edge else images


def convolve(images, weight, layer):
    if layer.stride == 1:
        return tf.nn.conv2d(images, weight, strides=1, padding="SAME")
    return tf.nn.conv2d(edged(images, layer.kernel), weight, strides=layer.stride, padding="VALID")


def forward(size, variables, images, normalise):
    """Compute the logits; ``normalise(name, images)`` is the batch normalisation of a convolution."""

    def apply(layer, hidden):
        return normalise(layer.name, convolve(hidden, variables[layer.name + ".weight"], layer))

    hidden = tf.nn.relu(apply(resnet.stem(size), images))
    if resnet.stem(size).stride == 2:
        # What was rectified is not below the zeros of the edge.
        hidden = tf.nn.max_pool2d(edged(hidden, 3), ksize=3, strides=2, padding="VALID")
    for branch, shortcut in resnet.blocks(size):
        kept = hidden if shortcut is None else apply(shortcut, hidden)
        for layer in branch[:-1]:
            hidden = tf.nn.relu(apply(layer, hidden))
        hidden = tf.nn.relu(apply(branch[-1], hidden) + kept)
    pooled = tf.reduce_mean(hidden, axis=(1, 2))
    return tf.nn.bias_add(tf.matmul(pooled, variables["dense.weight"]), variables["dense.bias"])


def by_kernel(images, mean, variance, scale, shift):
    """Normalise by one kernel, which a graph joins with the convolution before it and the ReLU after it.

    In a tf.function the network of size tiny took 0.86 of the time, small 0.96.
    """
    return tf.compat.v1.nn.fused_batch_norm(
        images, scale, shift, mean, variance, batch_norm.EPSILON, is_training=False
    )[0]


def by_operations(images, mean, variance, scale, shift):
    return tf.nn.batch_normalization(images, mean, variance, shift, scale, batch_norm.EPSILON)


def by_factor(images, mean, variance, scale, shift):
    """Normalise by a factor and a bias.

    Where they are constants, a graph moves the factor into the weights. With oneDNN one kernel is left for a
    convolution with its bias, what is added to it and the ReLU. With ``by_kernel`` size
    tiny took 1.03 times as long, and that of resnet50 1.09 times.
    """
    mean, variance, scale, shift = (tf.cast(value, tf.float32) for value in (mean, variance, scale, shift))
    factor = scale * tf.math.rsqrt(variance + batch_norm.EPSILON)
    bias = tf.cast(shift - mean * factor, images.dtype)
    return tf.nn.bias_add(images * tf.cast(factor, images.dtype), bias)


def build(size, parameters, batch, transform):
    # XLA joins operations itself. The kernel takes no scale in bfloat16.
    joined = transform.mode not in BY_XLA and parameters["dense.bias"].dtype == tf.float32
    normalised = by_factor if transform.mode == FROZEN else by_kernel if joined else by_operations

    def classify(variables, images):
        def normalise(name, images):
            return normalised(images, *(variables[name + "." + part] for part in resnet.NORM))

        return {"logits": forward(size, variables, images, normalise)}

    return inference(classify, parameters, transform, layout="NHWC")
