"""Implements per-sample-gradients-loop in NumPy: gradients that are written by hand, of one row at a time."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference
from ..per_sample_gradients.numpy import differentiate


def build(size, parameters, batch, transform):
    def looped(parameters, inputs, labels):
        found = [
            differentiate(parameters, inputs[row : row + 1], labels[row : row + 1]) for row in range(size["batch"])
        ]
        return {name: np.concatenate([gradients[name] for gradients in found]) for name in parameters}

    return inference(looped, parameters, transform)
