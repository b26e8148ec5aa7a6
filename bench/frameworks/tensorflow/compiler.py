"""Transforms functions as TensorFlow's modes do, and counts what they trace."""

from __future__ import annotations

import tensorflow as tf

from ...program import Unsupported

#: The modes that execute op by op.
EAGER, EAGER_FUSED = "eager", "eager-fused"


class Compiler:
    """Executes as one mode does."""

    def __init__(self, mode):
        self._mode = mode
        self._functions = []
        self._training = False

    def apply(self, function, training):
        if self._mode == EAGER_FUSED and not training:
            raise Unsupported("mode eager-fused differs from eager in the optimizer only; this workload has none")
        if self._mode in (EAGER, EAGER_FUSED):
            return function
        self._training = self._training or training
        traced = tf.function(function, jit_compile=self._mode == "xla")
        self._functions.append(traced)
        return traced

    def report(self):
        """Report what was traced. All shapes of a trace are fixed, so XLA compiles each trace once."""
        traces = sum(int(traced.experimental_get_tracing_count()) for traced in self._functions)
        # Training transforms the whole step.
        part = "forward, backward and optimizer" if self._training else "forward"
        found = {"compiled": part if traces else "nothing", "compilations": traces}
        if self._functions:
            found.update(graphs=traces, traces=traces)
        return found
