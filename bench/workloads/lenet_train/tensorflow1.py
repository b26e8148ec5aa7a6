"""Implements lenet-train as a graph of TensorFlow, from the loss that TensorFlow 2.x has."""

from __future__ import annotations

import functools

from ...frameworks.tensorflow1.adapter import training
from . import OPTIMIZER
from .tensorflow import logits, loss, max_pool


def build(size, parameters, batch, transform):
    pooled, outputs = (functools.partial(function, pool=max_pool) for function in (loss, logits))
    return training(pooled, parameters, transform, OPTIMIZER, layout="NHWC", outputs=outputs)
