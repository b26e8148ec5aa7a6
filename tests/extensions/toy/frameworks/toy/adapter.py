"""Adapts Toy: NumPy, with a mode that plans a function when it is called first."""

from __future__ import annotations

from bench.frameworks.numpy.adapter import Adapter as NumPyAdapter


class Adapter(NumPyAdapter):
    """Toy at one precision, in one mode."""

    def __init__(self, mode, device, precision, threads):
        super().__init__("eager", device, precision, threads)
        self._mode = mode
        self._planned = 0

    def transform(self, function, training=False, settings=None, part="module"):
        if self._mode == "eager":
            return function
        plans = {}

        def planned(*arguments):
            shapes = tuple(getattr(argument, "shape", None) for argument in arguments)
            if shapes not in plans:
                plans[shapes] = function
                self._planned += 1
            return plans[shapes](*arguments)

        return planned

    def compilation(self):
        return {"compiled": "forward" if self._planned else "nothing", "compilations": self._planned}

    def settings(self):
        return dict(super().settings(), compiled=self.compilation()["compiled"])
