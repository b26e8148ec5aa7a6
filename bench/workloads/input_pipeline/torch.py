"""Implements input-pipeline in PyTorch: the DataLoader of lenet-input."""

from __future__ import annotations

from ...frameworks.fed import delivering
from ..lenet_input.torch import Pipeline


def build(size, parameters, batch, transform):
    pipeline = Pipeline(batch)
    return delivering(transform, pipeline, pipeline.settings(), close=pipeline.close, processes=pipeline.processes)
