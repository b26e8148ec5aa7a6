"""Defines what an implementation receives and returns: a transform, and a program with a step and its state."""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional


class Program(NamedTuple):
    """A built implementation.

    ``step(*batch)`` does one step. For inference it returns ``{name: array}`` with the names of the reference's
    outputs; for training it updates the parameters and returns ``{"loss": scalar}``. The worker synchronises on the
    returned arrays.
    """

    step: Callable[..., Dict[str, Any]]
    #: Training only: return the current parameters, ``{name: array}`` with the specification's names and shapes.
    parameters: Optional[Callable[[], Dict[str, Any]]] = None
    #: Training only: reset parameters and optimizer state, so that every sample does the same work.
    reset: Optional[Callable[[], None]] = None


class Transform:
    """Calls the adapter's ``transform``, which turns a function or module into the form that the cell's mode executes.

    Implementations read ``mode`` where their best form depends on it, as pooling does under XLA.
    """

    def __init__(self, mode: str, apply: Callable[..., Any]) -> None:
        self.mode = mode
        self._apply = apply

    def __call__(self, function: Any, **options: Any) -> Any:
        return self._apply(function, **options)


class Unsupported(Exception):
    """This installation cannot do what the cell needs; the message says what is missing."""
