"""Runs a mode that another source adds to a framework: the adapter in its plain mode, and a function that transforms.

A source adds modes with a module ``frameworks/<framework>/modes.py``. It imports the framework in its functions only:

  MODES                           a tuple of bench.frameworks.facts.Mode
  apply(mode, function, training, part)
                                  the function or module as the mode executes it; raises Unsupported where it cannot.
                                  ``training`` says whether it is for training, ``part`` what it is: a "module", which
                                  will be differentiated, or the whole "step", as the mode's ``part`` asks for.
  compilation(mode)               optional: what was compiled so far, as an adapter's ``compilation``
"""

from __future__ import annotations

from typing import Any


class ExtendedAdapter:
    """An adapter in its plain mode whose ``transform`` is that of an added mode."""

    def __init__(self, adapter: Any, extension: Any, mode: str) -> None:
        self._adapter = adapter
        self._extension = extension
        self._mode = mode

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adapter, name)

    def transform(self, function: Any, training: bool = False, part: str = "module", **options: Any) -> Any:
        plain = self._adapter.transform(function, training=training, part=part, **options)
        applied = self._extension.apply(self._mode, plain, training, part)
        if applied is None:
            raise TypeError("apply of mode {} returned None; it returns the function that is called".format(self._mode))
        return applied

    def compilation(self) -> Any:
        """Return what the mode compiled; empty where the source does not say, since the adapter cannot see it."""
        found = getattr(self._extension, "compilation", None)
        return dict(found(self._mode)) if found is not None else {}

    def settings(self) -> Any:
        found = {name: value for name, value in self._adapter.settings().items() if name != "compiled"}
        compiled = self.compilation().get("compiled")
        return dict(found, compiled=compiled) if compiled else found
