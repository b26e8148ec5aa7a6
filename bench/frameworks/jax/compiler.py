"""Transforms functions as JAX's modes do, and counts what JAX traces and compiles."""

from __future__ import annotations

import functools

import jax

from .ahead import Ahead

#: The modes that call one executable for each step, or for many: with dispatch chosen by us or JAX, in a loop, compiled
#: ahead of time, or on several devices.
JITTED = ("jit", "jit-async", "jit-loop", "jit-aot", "pmap", "shard-map")


def compiles_for_processor(mode):
    """Tell whether XLA compiles a whole function in this mode, and for a processor.

    There a loop that XLA writes is faster than some of its library calls. Op by op it would write an array for each
    operation, and a GPU has better library calls.
    """
    return mode in JITTED and jax.default_backend() == "cpu"


class Compiler:
    """Executes as one mode does, and listens to JAX's own events."""

    def __init__(self, mode):
        self._mode = mode
        self._jitted = []
        self._training = False
        #: Traces of the step, not of the functions that it calls; op-by-op execution traces no step.
        self.traces = 0
        #: Executables that were built or loaded; op by op, one for each primitive and shape.
        self.compilations = 0
        jax.monitoring.register_event_duration_secs_listener(self._listen)

    def _listen(self, event, duration, **details):
        if event.endswith("backend_compile_duration"):
            self.compilations += 1

    def apply(self, function, training, options):
        """Return ``function`` as the mode executes it; the option ``jit`` is another library's jit."""
        jit = options.pop("jit", jax.jit)
        self._training = self._training or training
        if self._mode not in JITTED:
            return function

        @functools.wraps(function)
        def traced(*arguments):
            # Python runs this only while JAX traces the function.
            self.traces += 1
            return function(*arguments)

        jitted = jit(traced, **options)
        if self._mode == "jit-aot":
            jitted = Ahead(jitted)
        self._jitted.append(jitted)
        return jitted

    def report(self):
        found = {"compiled": "nothing", "compilations": self.compilations}
        if self._jitted:
            found["traces"] = self.traces
            # Training compiles the whole step.
            found["compiled"] = "forward, backward and optimizer" if self._training else "forward"
            sizes = [size for size in map(executables, self._jitted) if size is not None]
            found.update({"graphs": sum(sizes)} if sizes else {})
        return found


def executables(jitted):
    """Return how many a compiled function has; None where it does not tell. In 0.4, that of pmap is no method."""
    size = getattr(jitted, "_cache_size", None)
    return size() if callable(size) else size
