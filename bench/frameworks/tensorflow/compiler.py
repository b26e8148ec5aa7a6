"""Transforms functions as TensorFlow's modes do, and counts what they trace."""

from __future__ import annotations

import tensorflow as tf

from ...program import Unsupported
from . import clustering
from .concrete import Concrete

#: The modes that execute op by op.
EAGER, EAGER_FUSED = "eager", "eager-fused"
#: The modes that call concrete functions themselves.
CONCRETE = ("function-concrete", "xla-concrete")
#: The mode whose graphs hold the weights as constants.
FROZEN = "function-frozen"
#: The modes that trace a function to a graph.
GRAPHS = ("function", "xla", clustering.AUTO, FROZEN, *CONCRETE)


class Compiler:
    """Executes as one mode does."""

    def __init__(self, mode, collected):
        """``collected`` are the graphs that TensorFlow executes, which ``placement.Collected`` holds."""
        self._mode = mode
        self._functions = []
        self._training = False
        self._clusters = clustering.Clusters(collected) if mode == clustering.AUTO else None

    def apply(self, function, training, signature=None):
        if self._mode == EAGER_FUSED and not training:
            raise Unsupported("mode eager-fused differs from eager in the optimizer only; this workload has none")
        if self._mode in (EAGER, EAGER_FUSED):
            return function
        if self._mode == FROZEN and training:
            raise Unsupported("mode function-frozen is for inference; training changes the weights: see function")
        self._training = self._training or training
        if self._clusters is not None:
            self._clusters.begin()
        traced = tf.function(function, input_signature=signature, jit_compile=self._mode in clustering.WHOLE)
        self._functions.append(traced)
        return Concrete(traced) if self._mode in CONCRETE else traced

    def report(self):
        """Report what was traced. Shapes are fixed where XLA compiles, so it compiles each trace once."""
        traces = sum(int(traced.experimental_get_tracing_count()) for traced in self._functions)
        # Training transforms the whole step.
        part = "forward, backward and optimizer" if self._training else "forward"
        found = {"compiled": part if traces else "nothing", "compilations": traces}
        if self._functions:
            found.update(graphs=traces, traces=traces)
        if self._clusters is not None:
            # The operations around the clusters run as in a plain tf.function.
            found["graphs"] = self._clusters.count()
            found["compiled"] = found["compiled"] if found["graphs"] else "nothing"
        return found

    def settings(self):
        """Read back what only auto-clustering decides."""
        if self._clusters is None or not self._training or not self._clusters.count():
            return {}
        return {"fused optimizer": "by the compiler" if self._clusters.update else True}

    def settle(self):
        """Stop looking at what is clustered; raises Unsupported where nothing is."""
        if self._clusters is not None:
            self._clusters.end()
