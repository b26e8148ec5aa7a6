"""Implements gpt in TensorFlow Lite: the function of TensorFlow, converted."""

from __future__ import annotations

from ...program import Unsupported
from . import tensorflow


def build(size, parameters, batch, transform):
    if transform.mode == "int8":
        raise Unsupported("the large number of a mask leaves the scores too few of 256 steps: use float32")
    return tensorflow.build(size, parameters, batch, transform)
