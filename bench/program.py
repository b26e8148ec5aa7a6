"""Defines what an implementation receives and returns: a transform, and a program with a step and its state."""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence

from .frameworks.facts import Mode


class Program(NamedTuple):
    """A built implementation."""

    #: Do one step of a batch, ``step(*batch)``. For inference it returns ``{name: array}`` with the names of the
    #: reference's outputs; for training it updates the parameters and returns ``{"loss": scalar}``. The first call,
    #: the check against float64 and a program without ``run`` use it.
    step: Callable[..., Dict[str, Any]]
    #: Training only: return the current parameters, ``{name: array}`` with the specification's names and shapes.
    parameters: Optional[Callable[[], Dict[str, Any]]] = None
    #: Training only: reset parameters and optimizer state, so that every sample does the same work.
    reset: Optional[Callable[[], None]] = None
    #: Do one step for each batch of a list and return the last step's outputs: what timed samples call. It leaves
    #: nothing under way but what the adapter's ``synchronize`` of these outputs waits for. Contexts are entered and
    #: outputs named once in it, and several steps may be one executable. Within a run, a program may prepare batches
    #: ahead; it prepares nothing for a later run, whose time would lack it. Without it, a loop over ``step`` is timed.
    run: Optional[Callable[[Sequence[Any]], Dict[str, Any]]] = None
    #: Training to a result only: return what the network gives for a batch's inputs, ``evaluate(*inputs)``, under the
    #: current parameters: its logits (batch, classes). Accuracy and loss are computed from them in NumPy.
    evaluate: Optional[Callable[..., Any]] = None
    #: End what would outlive the program: pools, process groups. The worker calls it once, after the last request.
    close: Optional[Callable[[], None]] = None
    #: Other processes that compute its steps, started while it was built. They run where the worker runs, and stay
    #: until ``close``.
    processes: Sequence[int] = ()
    #: Whether a run has a cost beside its steps, as a call of Keras' ``fit`` has. Samples are then so long that it does
    #: not count.
    starts: bool = False


class Transform:
    """Calls the adapter's ``transform``, which turns a function or module into the form that the cell's mode executes.

    Implementations read ``mode`` where their best form depends on it, as pooling does under XLA, and ``part``: the part
    of a training program that the mode transforms, "module" (the forward pass with the loss; the rest stays the
    framework's own) or "step" (forward, backward and optimizer). The functions of adapters that make training programs
    read ``precision``, for mixed precision, and input pipelines ``places_batches``, a fact of the mode.
    """

    def __init__(
        self,
        mode: str,
        apply: Callable[..., Any],
        part: str = "module",
        precision: str = "float32",
        *,
        places_batches: bool = False,
    ) -> None:
        self.mode = mode
        self.part = part
        self.precision = precision
        self.places_batches = places_batches
        self._apply = apply

    @classmethod
    def of(cls, mode: Mode, apply: Callable[..., Any], precision: str = "float32") -> "Transform":
        """Return the transform of a mode with these facts."""
        return cls(mode.name, apply, mode.part, precision, places_batches=mode.places_batches)

    def __call__(self, function: Any, **options: Any) -> Any:
        """Transform ``function``; the option ``part`` says what it is: a "module" (the default) or a "step".

        PyTorch has two more: an "optimizer", the call that updates the parameters, which ``compile-optimizer`` and
        PyTorch/XLA transform; and for PyTorch/XLA a "call", one of several of a step of inference.
        """
        return self._apply(function, **options)

    def calling(self, apply: Callable[..., Any]) -> "Transform":
        """Return a transform of the same cell that calls ``apply``, which calls this one."""
        return Transform(self.mode, apply, self.part, self.precision, places_batches=self.places_batches)


class Unsupported(Exception):
    """This installation cannot do what the cell needs; the message says what is missing."""
