"""Implements saxpy in Toy."""

from __future__ import annotations

from bench.frameworks.numpy.adapter import inference

from . import reference


def build(size, parameters, batch, transform):
    return inference(lambda parameters, *batch: reference(size, parameters, batch), parameters, transform)
