"""Implements input-pipeline in JAX: the data set of Grain that lenet-input has."""

from __future__ import annotations

from ...frameworks.fed import delivering
from ..lenet_input.jax import Pipeline


def build(size, parameters, batch, transform):
    pipeline = Pipeline(batch)
    return delivering(transform, pipeline, pipeline.settings())
