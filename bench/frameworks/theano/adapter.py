"""Adapts Theano: arrays are NumPy's, and expressions of symbols become functions that g++ compiles."""

from __future__ import annotations

import numpy as np
import theano
from theano import tensor

from ...program import Unsupported
from ..numpy import adapter as of_numpy
from .compiler import Compiler, compiled
from .programs import inference, training

__all__ = ["Adapter", "inference", "training"]


class Adapter(of_numpy.Adapter):
    """Theano on the processor, at one precision; NumPy's BLAS computes its products."""

    def __init__(self, mode, device, precision, threads):
        super().__init__(mode, device, precision, threads)
        if not theano.config.cxx:
            raise Unsupported("theano compiles with g++, which is not installed")
        # Elementwise operations are computed by several threads only where this asks for it.
        theano.config.openmp = threads > 1
        self._compiler = Compiler()
        self._product = None

    def transform(self, function, training=False, settings=None, part="module"):
        """Return a function of arrays for one of symbols, see ``Compiler.function``."""
        if settings is not None:
            self._program_settings.append(settings)
        return self._compiler.function(function, training)

    def settings(self):
        found = dict(super().settings(), compiled=self.compilation()["compiled"])
        if self.dtype == np.float32:
            found["float32 matmul"] = "highest"
        return found

    def compilation(self):
        return self._compiler.report()

    def versions(self):
        return dict(super().versions(), theano=theano.__version__)

    def multiply(self, left, right):
        if self._product is None:
            self._product = compiled(tensor.dot, [(self.dtype, 2)] * 2)
        return self._product(left, right)
