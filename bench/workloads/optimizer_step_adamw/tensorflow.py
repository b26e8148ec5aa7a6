"""Implements optimizer-step-adamw in TensorFlow: Keras' optimizer op by op, training kernels otherwise."""

from __future__ import annotations

from ...frameworks.tensorflow.adapter import variable_training
from . import OPTIMIZER


def build(size, parameters, batch, transform, optimizer=OPTIMIZER):
    def differentiate(loss, *gradients):
        return loss, list(gradients)

    return variable_training(None, parameters, transform, optimizer, differentiate=differentiate)
