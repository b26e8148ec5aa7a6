"""Implements branch-where in NumPy: numpy.where."""

from __future__ import annotations

import numpy as np

from ...frameworks.numpy.adapter import inference


def build(size, parameters, batch, transform):
    def compute(parameters, hidden):
        for index in range(size["layers"]):
            upper = np.maximum(hidden @ parameters["upper%d" % index], 0)
            lower = np.tanh(hidden @ parameters["lower%d" % index])
            hidden = np.where(hidden[0] @ parameters["probe%d" % index] > 0, upper, lower)
        return {"output": hidden}

    return inference(compute, parameters, transform)
