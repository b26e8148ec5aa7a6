"""Compiles a jitted function before it is called, for each shape of its arguments, and calls the executable itself."""

from __future__ import annotations


class Ahead:
    """A function that is lowered and compiled for the first arguments of a shape, as ``jitted.lower(…).compile()``."""

    def __init__(self, jitted):
        self._jitted = jitted
        self._executables = {}
        self._only = None

    def __call__(self, *arguments):
        if self._only is not None:
            try:
                return self._only(*arguments)
            except TypeError:
                # An executable refuses arguments of other types before it computes.
                if signature(arguments) in self._executables:
                    raise
                self._only = None
        executable = self._executables.get(signature(arguments))
        return (executable or self._compiled(arguments))(*arguments)

    def _compiled(self, arguments):
        found = self._executables[signature(arguments)] = self._jitted.lower(*arguments).compile()
        # Whoever has one executable calls it; whoever has several finds the right one first.
        self._only = found if len(self._executables) == 1 else None
        return found

    def _cache_size(self):
        """Count the executables, as JAX's own jitted functions do."""
        return len(self._executables)


def signature(arguments):
    """Return the shapes of the arguments that are arrays. Those in dictionaries and tuples keep theirs."""
    return tuple(getattr(argument, "shape", None) for argument in arguments)
