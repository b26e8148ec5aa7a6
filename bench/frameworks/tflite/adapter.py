"""Adapts TensorFlow Lite: arrays are NumPy's, and functions of TensorFlow become models that its interpreter runs."""

from __future__ import annotations

from importlib import metadata

import tensorflow as tf

from ...program import Unsupported
from .. import loaded
from ..numpy import adapter as of_numpy
from .models import Models

__all__ = ["Adapter"]


class Adapter(of_numpy.Adapter):
    """The interpreter on the processor, with a model's weights and products in float32 or int8."""

    def __init__(self, mode, device, precision, threads):
        super().__init__(mode, device, precision, threads)
        if precision != "float32":
            raise Unsupported("TensorFlow Lite takes and returns float32; int8 is a mode of its own")
        self._threads = threads
        self._models = Models(mode == "int8", threads)
        self._products = Models(False, threads)
        self._multiply = self._products.function(lambda left, right: {"product": tf.matmul(left, right)})
        self._integers = mode == "int8"

    def put(self, array):
        array = super().put(array)
        if self._integers:
            self._models.placed.append(array)
        return array

    def transform(self, function, training=False, settings=None, part="module"):
        """Return a function of arrays for one of tensors; each shape of its arguments becomes a model."""
        if training:
            raise Unsupported("TensorFlow Lite is measured for inference only: see tensorflow")
        if settings is not None:
            self._program_settings.append(settings)
        return self._models.function(function)

    def settings(self):
        found = {
            # The interpreter does not report its threads.
            "threads": self._threads,
            "dispatch": "inline",
            "kernels": "xnnpack",
            "float32 matmul": "int8" if self._integers else "highest",
            "compiled": self.compilation()["compiled"],
        }
        found.update(loaded.allocator())
        for read in self._program_settings:
            found.update(read())
        return found

    def compilation(self):
        count = self._models.count
        return {"compiled": "forward" if count else "nothing", "graphs": count, "compilations": count}

    def versions(self):
        return {"ai-edge-litert": metadata.version("ai-edge-litert"), "tensorflow": tf.__version__}

    def multiply(self, left, right):
        return self._multiply(left, right)["product"]
