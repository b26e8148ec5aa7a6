"""Implements layernorm-softmax in TensorFlow Lite: the function of TensorFlow, converted."""

from __future__ import annotations

from ...frameworks.tflite.models import refuse_wide_softmax
from . import tensorflow


def build(size, parameters, batch, transform):
    refuse_wide_softmax(transform, size["columns"])
    return tensorflow.build(size, parameters, batch, transform)
