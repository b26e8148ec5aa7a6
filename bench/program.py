"""Knows what the worker hands to an implementation, and gets from it: a transform in, a step and its state out."""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional


class Program(NamedTuple):
    """A built implementation.

    ``step(*batch)`` does one step. For inference it returns ``{name: array}`` with the names of the reference's
    outputs; for training it updates the parameters and returns ``{"loss": scalar}``. The worker synchronises on what
    is returned.
    """

    step: Callable[..., Dict[str, Any]]
    #: Training only: the current parameters, ``{name: array}`` in the specification's names and shapes.
    parameters: Optional[Callable[[], Dict[str, Any]]] = None
    #: Training only: put parameters and optimizer state back to their initial values, so that every sample does the
    #: same work.
    reset: Optional[Callable[[], None]] = None


class Transform:
    """Turns a function or module into what the cell's mode executes; calling it is calling the adapter's ``transform``.

    ``mode`` is for implementations whose best form differs by mode, as that of pooling does under XLA.
    """

    def __init__(self, mode: str, apply: Callable[..., Any]) -> None:
        self.mode = mode
        self._apply = apply

    def __call__(self, function: Any, **options: Any) -> Any:
        return self._apply(function, **options)


class Unsupported(Exception):
    """What was asked for does not exist in this installation; the message says what is missing."""
