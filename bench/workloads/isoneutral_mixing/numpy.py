"""Implements isoneutral-mixing in NumPy: the specification's own formulas."""

from __future__ import annotations

from ...frameworks.numpy.adapter import inference
from . import reference


def build(size, parameters, batch, transform):
    return inference(lambda parameters, *batch: reference(size, parameters, batch), parameters, transform)
