"""Implements random-uniform in NumPy: a Generator, whose PCG64 keeps its state from step to step."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference
from ..random_draws import SEED


def build(size, parameters, batch, transform):
    generator = np.random.default_rng(SEED)

    def draw(parameters, seed):
        return {"draws": generator.random(size["draws"], dtype=np.float32)}

    return inference(draw, parameters, transform)
