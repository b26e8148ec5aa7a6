"""Counts what Keras traces and compiles. Its jit_compile is XLA on TensorFlow and torch.compile on PyTorch."""

from __future__ import annotations

import functools

WHOLE_STEP = "forward, backward and optimizer"


def of(backend, mode, adapter):
    """Return what counts on a backend, whose own adapter is ``adapter``."""
    return Dynamo(mode) if backend == "torch" else Traces(adapter)


class Traces:
    """Counts on TensorFlow and JAX: both run the Python of a step only while they trace it."""

    def __init__(self, adapter):
        self._adapter = adapter
        self._training = False
        self.traces = 0

    def watch(self, model, training):
        self._training = self._training or training
        name = "train_step" if training else "predict_step"
        step = getattr(model, name)

        @functools.wraps(step)
        def traced(*arguments):
            self.traces += 1
            return step(*arguments)

        setattr(model, name, traced)
        return model

    def report(self):
        part = WHOLE_STEP if self._training else "forward"
        # JAX counts its executables, TensorFlow compiles what it traces.
        executables = self._adapter.compilation()["compilations"]
        return {
            "compiled": part if self.traces else "nothing",
            "graphs": self.traces,
            "traces": self.traces,
            "compilations": max(self.traces, executables),
        }


class Dynamo:
    """Counts on PyTorch, where the modes without "jit" compile nothing."""

    def __init__(self, mode):
        self._jit = mode.endswith("-jit")
        self._part = "forward"

    def watch(self, model, training):
        # Keras gives torch.compile the whole step, with a call of ``backward`` at which its graph breaks.
        self._part = WHOLE_STEP if training else "forward"
        return model

    def report(self):
        if not self._jit:
            return {"compiled": "nothing", "compilations": 0}
        from torch._dynamo.utils import counters

        from ..torch.compiler import report_counters

        return report_counters(counters, self._part)
