"""Implements catdog-cnn-train as a graph of TensorFlow, from the loss that TensorFlow 2.x has."""

from __future__ import annotations

import functools

from ...frameworks.tensorflow1.adapter import training
from ..lenet_train.tensorflow import max_pool
from . import OPTIMIZER
from .tensorflow import logits, loss


def build(size, parameters, batch, transform):
    pooled, outputs = (functools.partial(function, pool=max_pool) for function in (loss, logits))
    return training(pooled, parameters, transform, OPTIMIZER, layout="NHWC", outputs=outputs)
