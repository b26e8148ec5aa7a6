"""Asks NVIDIA's driver through its library, of which old versions lack functions."""

from __future__ import annotations

from typing import Any


def nvml() -> Any:
    """Return pynvml, which speaks with the driver."""
    import pynvml  # type: ignore[import-untyped]  # it ships no types

    return pynvml


def answer(library: Any, function: str, *arguments: Any) -> Any:
    """Return what a function of ``library`` answers; None where the library, the driver or the GPU has none.

    An old library has no such function at all. A new one of an old driver raises its own error.
    """
    ask = getattr(library, function, None)
    if ask is None:
        return None
    try:
        return ask(*arguments)
    except library.NVMLError:
        return None


def text(value: str | bytes) -> str:
    """Return a text of the library, which gives bytes in old versions."""
    return value.decode() if isinstance(value, bytes) else value
