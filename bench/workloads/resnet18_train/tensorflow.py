"""Implements resnet18-train in TensorFlow: tf.Variable and GradientTape; a kernel updates the statistics."""

from __future__ import annotations

import tensorflow as tf

from ...frameworks.tensorflow.adapter import variable_training
from .. import batch_norm
from ..resnet18.tensorflow import forward
from . import OPTIMIZER, initial_state


def build(size, parameters, batch, transform):
    def loss(variables, images, labels):
        def normalise(name, images):
            scale, shift = variables[name + ".scale"], variables[name + ".shift"]
            mean, variance = variables[name + ".mean"], variables[name + ".variance"]
            normal, new_mean, new_variance = tf.compat.v1.nn.fused_batch_norm(
                images, scale, shift, mean, variance, batch_norm.EPSILON,
                exponential_avg_factor=batch_norm.MOMENTUM,
            )  # fmt: skip
            mean.assign(new_mean)
            variance.assign(new_variance)
            return normal

        logits = forward(size, variables, images, normalise)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))

    return variable_training(loss, parameters, transform, OPTIMIZER, layout="NHWC", kept=initial_state(size))
