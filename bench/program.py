"""Knows what an implementation hands to the worker: a step, and for training its state."""

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


class Unsupported(Exception):
    """What was asked for does not exist in this installation; the message says what is missing."""
