"""Implements optimizer-step-adamw in TensorFlow: Keras' optimizer op by op, training kernels otherwise."""

from __future__ import annotations

from ...frameworks.tensorflow.adapter import variable_training
from . import OPTIMIZER


def grouping(transform):
    """Return a transform after which all gradients are one argument.

    A tf.function looks at the name, the kind and the type of each argument: with 300 of them, a step of Adam took 1.3
    times as long.
    """

    def apply(function, **options):
        transformed = transform(lambda loss, gradients: function(loss, *gradients), **options)
        return lambda loss, *gradients: transformed(loss, gradients)

    return transform.calling(apply)


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    def differentiate(loss, *gradients):
        return loss, list(gradients)

    return variable_training(None, parameters, grouping(transform), optimizer, differentiate=differentiate)
