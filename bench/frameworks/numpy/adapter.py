"""Adapts NumPy, which every environment has; it computes op by op on the processor."""

from __future__ import annotations

import functools

import numpy as np

from ...program import Program, Unsupported
from .. import loaded, precisions


class Adapter:
    """NumPy at one precision; it has one mode and one device."""

    def __init__(self, mode, device, precision, threads):
        if device != "cpu":
            raise Unsupported("numpy computes on the processor only")
        if precision == "bfloat16":
            raise Unsupported("numpy has no bfloat16")
        self.dtype = np.dtype(precisions.array_type(precision, device))
        self._program_settings = []
        self._kept = np.zeros(0, self.dtype)

    def put(self, array):
        array = np.asarray(array)
        return array.astype(self.dtype) if array.dtype.kind == "f" else array.copy()

    def get(self, value):
        value = np.asarray(value)
        return value.astype(np.float64) if value.dtype.kind == "f" else value

    def synchronize(self, outputs):
        """Return at once: NumPy computes before it returns."""

    def transform(self, function, training=False, settings=None, part="module"):
        if settings is not None:
            self._program_settings.append(settings)
        return function

    def settings(self):
        found = {"compiled": "nothing", "dispatch": "inline"}
        if loaded.is_bound():
            found["threads"] = len(loaded.processors())
        blas = loaded.openblas()
        if blas:
            found["BLAS"] = "openblas ({})".format(blas["kernels"])
            found["threads"] = blas["threads"]
        found.update(loaded.allocator())
        for read in self._program_settings:
            found.update(read())
        return found

    def compilation(self):
        return {"compiled": "nothing", "compilations": 0}

    def versions(self):
        return {"numpy": np.__version__}

    def memory(self):
        return {}

    def limit_memory(self, limit_bytes):
        raise Unsupported("numpy has no memory of its own to limit")

    def multiply(self, left, right):
        """Compute ``left @ right`` for square matrices into a buffer that the next call reuses."""
        return np.matmul(left, right, out=self._buffer(left))

    def copy(self, array):
        """Copy ``array`` into a buffer that the next call reuses."""
        buffer = self._buffer(array)
        np.copyto(buffer, array)
        return buffer

    def _buffer(self, like):
        # Only one buffer is kept: matrices grow from call to call.
        if self._kept.shape != like.shape or self._kept.dtype != like.dtype:
            self._kept = np.zeros_like(like)
        return self._kept


def inference(function, parameters, transform):
    """Make the program of ``function(parameters, *batch) -> {name: array}``."""
    transformed = transform(function)
    return Program(lambda *batch: transformed(parameters, *batch))


def training(loss_and_gradients, parameters, transform, settings, outputs=None):
    """Make the program that trains with plain gradient descent.

    ``loss_and_gradients(parameters, *batch)`` returns (loss, {name: gradient}): written by hand, as in NumPy gradients
    are, or by bench.differentiation, whose calls cost more than the arithmetic of small steps.
    ``outputs(parameters, *inputs)`` gives the logits from which a training to a result is evaluated.
    """
    if settings["name"] != "sgd" or settings.get("momentum"):
        raise Unsupported("the numpy adapter trains with plain gradient descent only")
    current = {}
    transformed = transform(loss_and_gradients, training=True)

    def reset():
        current.update({name: value.copy() for name, value in parameters.items()})

    def step(*batch):
        loss, gradients = transformed(current, *batch)
        for name, gradient in gradients.items():
            current[name] -= current[name].dtype.type(settings["learning_rate"]) * gradient
        return {"loss": loss}

    reset()
    evaluate = functools.partial(outputs, current) if outputs is not None else None
    return Program(step, lambda: current, reset, evaluate=evaluate)
