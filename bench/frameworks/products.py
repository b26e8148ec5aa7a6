"""Reads back in which types a program multiplies in mixed precision, off a trace of its function."""

from __future__ import annotations

from . import precisions


class Products:
    """The products of a function; a framework's own class describes arguments and traces.

    The first arguments are noted where precision is mixed. The function is traced when its settings are asked for.
    """

    def __init__(self, function, precision):
        self._function = function
        self._mixed = precision == precisions.MIXED
        self._given = self._words = None

    def __call__(self, *arguments):
        self.note(*arguments)
        return self._function(*arguments)

    def note(self, *arguments):
        if self._mixed and self._given is None:
            self._given = self.described(arguments)

    def settings(self):
        """Return the setting of ``float32 matmul`` in mixed precision, once there have been arguments."""
        if self._words is None and self._given is not None:
            self._words = self.traced(self._function, self._given)
        return {"float32 matmul": self._words} if self._words else {}

    def described(self, arguments):
        """Return the shapes and types of arguments, which may be deleted by the step."""
        raise NotImplementedError

    def traced(self, function, described):
        """Name the precisions of the products that a function has for such arguments; nothing is computed."""
        raise NotImplementedError
