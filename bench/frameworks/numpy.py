"""Adapts NumPy: the framework that is always there, op by op on the processor."""

from __future__ import annotations

import os

import numpy as np

from ..program import Program, Unsupported


class Adapter:
    """NumPy at one precision; it has one mode and one device."""

    def __init__(self, mode, device, precision, threads):
        if device != "cpu":
            raise Unsupported("numpy computes on the processor only")
        if precision == "bfloat16":
            raise Unsupported("numpy has no bfloat16")
        self.dtype = np.dtype(precision)

    def put(self, array):
        array = np.asarray(array)
        return array.astype(self.dtype) if array.dtype.kind == "f" else array.copy()

    def get(self, value):
        value = np.asarray(value)
        return value.astype(np.float64) if value.dtype.kind == "f" else value

    def synchronize(self, outputs):
        """Return at once: NumPy computes before it returns."""

    def transform(self, function, training=False):
        return function

    def settings(self):
        return {"threads": len(os.sched_getaffinity(0))}

    def versions(self):
        return {"numpy": np.__version__}

    def memory(self):
        return {}


def inference(function, parameters):
    """Make the program of ``function(parameters, *batch) -> {name: array}``."""
    return Program(lambda *batch: function(parameters, *batch))


def reference_training(loss_and_gradients, size, parameters, settings):
    """Make the program that trains with a specification's own gradients and plain gradient descent."""
    if settings["name"] != "sgd" or settings.get("momentum"):
        raise Unsupported("the numpy adapter trains with plain gradient descent only")
    current = {}

    def reset():
        current.update({name: value.copy() for name, value in parameters.items()})

    def step(*batch):
        loss, gradients = loss_and_gradients(size, current, batch)
        for name, gradient in gradients.items():
            current[name] -= current[name].dtype.type(settings["learning_rate"]) * gradient
        return {"loss": loss}

    reset()
    return Program(step, lambda: current, reset)
