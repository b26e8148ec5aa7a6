"""Implements input-pipeline in TensorFlow: the tf.data pipeline of lenet-input."""

from __future__ import annotations

from ...frameworks.fed import delivering
from ..lenet_input.tensorflow import Pipeline


def build(size, parameters, batch, transform):
    pipeline = Pipeline(batch)
    return delivering(transform, pipeline, pipeline.settings())
