"""Adapts the graphs and sessions of TensorFlow 1.x, which TensorFlow 2.x has as tf.compat.v1."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from ...program import Unsupported
from .. import loaded, precisions
from .programs import inference, training
from .sessions import Sessions

__all__ = ["Adapter", "inference", "training"]

#: TensorFlow copies what it is fed with, unless it lies at a multiple of so many bytes.
ALIGNMENT = 64


class Adapter:
    """A session on the processor at one precision."""

    def __init__(self, mode, device, precision, threads):
        if device != "cpu":
            raise Unsupported("sessions are measured on a processor only: use framework tensorflow on a GPU")
        tf.disable_eager_execution()
        self.dtype = np.dtype(tf.as_dtype(precisions.array_type(precision, device)).as_numpy_dtype)
        self._sessions = Sessions(threads)
        self._program_settings = []
        self._kept = np.zeros(0, self.dtype)
        self.multiply = self._sessions.traced(tf.matmul)

    def put(self, array):
        """Place an array where a session takes it without a copy."""
        array = np.asarray(array)
        return aligned(array.astype(self.dtype) if array.dtype.kind == "f" else array)

    def get(self, value):
        value = np.asarray(value)
        return value if value.dtype.kind in "iub" else value.astype(np.float64)

    def synchronize(self, outputs):
        """Return at once: a session returns what has been computed."""

    def transform(self, function, training=False, settings=None, part="module"):
        """Return a function of arrays for one that makes the graph from placeholders of their shapes."""
        if settings is not None:
            self._program_settings.append(settings)
        return self._sessions.program(function, training)

    def settings(self):
        found = dict(self._sessions.settings(), compiled=self.compilation()["compiled"])
        if self.dtype == np.float32:
            found["float32 matmul"] = "highest"
        found.update(loaded.allocator())
        for read in self._program_settings:
            found.update(read())
        return found

    def compilation(self):
        return self._sessions.report()

    def versions(self):
        return {"tensorflow": tf.__version__}

    def memory(self):
        return {}

    def limit_memory(self, limit_bytes):
        raise Unsupported("sessions on a processor have no memory of their own to limit")

    def copy(self, array):
        """Copy into a buffer that the next call reuses; a session is fed with NumPy's arrays."""
        if self._kept.shape != array.shape or self._kept.dtype != array.dtype:
            self._kept = aligned(np.zeros_like(array))
        np.copyto(self._kept, array)
        return self._kept


def aligned(array):
    """Return a copy that begins at a multiple of ``ALIGNMENT`` bytes."""
    memory = np.empty(array.nbytes + ALIGNMENT, np.uint8)
    first = -memory.ctypes.data % ALIGNMENT
    copy = memory[first : first + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
