"""Adapts Keras 2 and 3 above the adapter of their backend: arrays and machine are the backend's, the modes Keras'."""

from __future__ import annotations

import importlib

import keras
import numpy as np

from ...program import Unsupported
from .. import precisions
from . import compiler as compiler
from .programs import inference, training
from .versions import THREE, config

__all__ = ["Adapter", "inference", "training"]


#: How images lie best in each backend. On PyTorch Keras turns images of the other form around in every layer: a step of
#: catdog-cnn-train/tiny took 0.75 of that time on a processor.
LAYOUTS = {"tensorflow": "channels_last", "jax": "channels_last", "torch": "channels_first"}


class Adapter:
    """Keras on one device, in one mode, at one precision."""

    def __init__(self, mode, device, precision, threads):
        backend = config.backend()
        if mode.endswith("-jit") and backend == "jax":
            raise Unsupported("on JAX Keras compiles by default: use {}".format(mode[: -len("-jit")]))
        adapter = importlib.import_module("..{}.adapter".format(backend), __package__)
        # Op by op: what is compiled, Keras compiles.
        self._backend = adapter.Adapter("eager", device, precision, threads)
        self._compiler = compiler.of(backend, mode, self._backend)
        self._program_settings = []
        if precision == "bfloat16" and not THREE:
            raise Unsupported("the layers of Keras 2 have no bfloat16 of their own")
        # A user's keras.json may have other defaults.
        config.set_floatx(precisions.array_type(precision, device))
        config.set_image_data_format(LAYOUTS[backend])

    def __getattr__(self, name):
        return getattr(self._backend, name)

    def get(self, value):
        """Return an array of the backend, or what Keras has made a number or an array of NumPy's of."""
        if isinstance(value, (float, np.generic, np.ndarray)):
            return np.asarray(value, np.float64)
        return self._backend.get(value)

    def transform(self, model, training=False, settings=None, part="module"):
        """Compile a Keras model for the mode, and count what is traced."""
        if settings is not None:
            self._program_settings.append(settings)
        return self._compiler.watch(model, training)

    def settings(self):
        found = dict(self._backend.settings(), compiled=self.compilation()["compiled"])
        for read in self._program_settings:
            found.update(read())
        return found

    def compilation(self):
        return self._compiler.report()

    def versions(self):
        return dict(self._backend.versions(), keras=keras.__version__)
