"""Implements lengths-exact in NumPy: the specification's own encoder, which leaves padding out."""

from __future__ import annotations

from ...frameworks.numpy.adapter import inference
from ..sequence_lengths import reference


def build(size, parameters, batch, transform):
    return inference(lambda parameters, *batch: reference(size, parameters, batch), parameters, transform)
