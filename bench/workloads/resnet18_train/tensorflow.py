"""Implements resnet18-train in TensorFlow: tf.Variable and GradientTape; a kernel updates the statistics, or XLA."""

from __future__ import annotations

import functools

import tensorflow as tf

from ...frameworks import halves
from ...frameworks.tensorflow import mirrored
from ...frameworks.tensorflow.adapter import cross_entropy, variable_training
from ...frameworks.tensorflow.clustering import BY_XLA
from .. import batch_norm, resnet
from ..resnet18.tensorflow import forward
from . import OPTIMIZER, initial_state


def by_kernel(images, mean, variance, scale, shift):
    """Normalise images; return them and the new running mean and variance, as the function below does."""
    # The kernel takes narrow images, but no narrow scale.
    scale, shift = (tf.cast(value, tf.float32) for value in (scale, shift))
    return tf.compat.v1.nn.fused_batch_norm(
        images, scale, shift, mean, variance, batch_norm.EPSILON, exponential_avg_factor=batch_norm.MOMENTUM
    )


def by_moments(images, mean, variance, scale, shift, devices=1):
    """Do the same in two passes, for XLA: for the kernel it computes the variance as the mean square less the square.

    That loses bits, by which ReLUs change: updates were wrong by up to 3 %. The time is the same. And for several
    ``devices``, from whose images the kernel would take no statistics.
    """
    narrow, images = images.dtype, tf.cast(images, tf.float32)
    own_mean, own_variance = tf.nn.moments(images, (0, 1, 2))
    if devices > 1:
        own_mean, own_variance = mirrored.moments_of_all(own_mean, own_variance)
    count = devices * images.shape.num_elements() // images.shape[-1]

    def moved(old, new):
        return (1 - batch_norm.MOMENTUM) * old + batch_norm.MOMENTUM * new

    shift, scale = (tf.cast(value, tf.float32) for value in (shift, scale))
    normal = tf.nn.batch_normalization(images, own_mean, own_variance, shift, scale, batch_norm.EPSILON)
    return tf.cast(normal, narrow), moved(mean, own_mean), moved(variance, count / (count - 1) * own_variance)


def build(size, parameters, batch, transform):
    normalised = by_moments if transform.mode in BY_XLA else by_kernel
    if transform.mode == mirrored.MODE:
        normalised = functools.partial(by_moments, devices=halves.DEVICES)

    def loss(variables, images, labels):
        def normalise(name, images):
            mean, variance, scale, shift = (variables[name + "." + part] for part in resnet.NORM)
            normal, new_mean, new_variance = normalised(images, mean, variance, scale, shift)
            mean.assign(new_mean)
            variance.assign(new_variance)
            return normal

        logits = forward(size, variables, images, normalise)
        return cross_entropy(labels, logits)

    return variable_training(loss, parameters, transform, OPTIMIZER, layout="NHWC", kept=initial_state(size))
