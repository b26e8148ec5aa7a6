"""Adapts Keras 2 and 3 as the adapter of their backend, whose arrays and machine they have, in modes of their own."""

from __future__ import annotations

import contextlib
import functools
import importlib

import keras

from ...program import Unsupported
from .. import precisions
from .programs import inference, training
from .versions import BACKEND, THREE, config, set_policy

__all__ = ["Adapter", "inference", "training"]

#: What holds for as long as the process lasts.
KEPT = contextlib.ExitStack()

of_backend = importlib.import_module("..{}.adapter".format(BACKEND), __package__)


class Adapter(of_backend.Adapter):
    """The backend on one device, op by op: what is compiled, Keras compiles."""

    def __init__(self, mode, device, precision, threads):
        jit = mode.endswith("-jit")
        if jit and BACKEND == "jax":
            raise Unsupported("on JAX Keras compiles by default: use {}".format(mode[: -len("-jit")]))
        if precision == "bfloat16" and not THREE:
            raise Unsupported("the layers of Keras 2 have no bfloat16 of their own")
        # Keras' jit_compile is torch.compile there, which PyTorch's adapter counts and reads back in this mode.
        super().__init__("compile" if jit and BACKEND == "torch" else "eager", device, precision, threads)
        if BACKEND == "torch" and device == "cpu":
            stay_on_processor()
        self._step, self._traces = "forward", 0
        # A user's keras.json may have other defaults.
        config.set_floatx(precisions.array_type(precision, device, mixes=True))
        set_policy("mixed_bfloat16" if precision == precisions.MIXED else config.floatx())
        # On PyTorch Keras turns images of the other form around in every layer: a step of catdog-cnn-train/tiny took
        # 0.75 of that time on a processor.
        config.set_image_data_format("channels_first" if BACKEND == "torch" else "channels_last")

    def transform(self, model, training=False, settings=None, part="module"):
        """Return a Keras model, whose own loops execute it, and count what they trace."""
        if BACKEND == "torch":
            # Keras compiles the model itself; what is returned here stays unused.
            super().transform(model, training, settings, part)
            return model
        self._program_settings.append(settings)
        self._step = "forward, backward and optimizer" if training else "forward"
        name = "train_step" if training else "predict_step"
        step = getattr(model, name)

        @functools.wraps(step)
        def traced(*arguments):
            # TensorFlow and JAX run the Python of a step only while they trace it.
            self._traces += 1
            return step(*arguments)

        setattr(model, name, traced)
        return model

    def compilation(self):
        found = super().compilation()
        if BACKEND != "torch":
            # JAX counts its executables, TensorFlow compiles what it traces.
            found.update(compiled=self._step if self._traces else "nothing", graphs=self._traces, traces=self._traces)
            found["compilations"] = max(self._traces, found["compilations"])
        return found

    def versions(self):
        return dict(super().versions(), keras=keras.__version__)


def stay_on_processor():
    """Let Keras compute on the processor where PyTorch sees a GPU, which it would take by itself."""
    from keras.src.backend.torch.core import get_device

    if get_device() != "cpu":
        KEPT.enter_context(keras.device("cpu"))
