"""Compares public implementations with ours before they are timed; one that computes something else is not timed.

Kernels get our parameters and batches, and are compared with the float64 reference of the workload, as ours is: the
outputs for a batch, or the updates of a few steps of an optimizer. Networks have parameters of their own, so that only
the shapes and types of their outputs are compared with ours. Of training that is the loss, which tells little.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.program import Program
from bench.worker.checking import draws, parity, tolerance

SEED = 1
#: What is needed of a stored reference.
KEPT = ("digest", "reduced", "expected/", "error/", "tied/")
#: A public kernel may hold its batch, in a layout of its own. So inference is checked with one batch, the first. Random
#: draws are checked with two: one that remembers its numbers, or starts anew, is found by those of the second batch.
NOT_COMPARED = "[1]"


class Form(NamedTuple):
    """Shape and type of an output; the type is empty where it has none."""

    shape: tuple[int, ...]
    type: str


class Reference:
    """Holds the float64 outputs of a kernel's specification, and the batches that they belong to.

    ``precision`` is the one in which a mode computes, whatever its arrays have.
    """

    def __init__(self, specification: Any, size: dict[str, int], adapter: Any, precision: str = "float32") -> None:
        self._precision = precision
        self._factor = getattr(specification, "TOLERANCE_FACTOR", tolerance.TOLERANCE_FACTOR)
        self._training = specification.TRAINING
        self._get = adapter.get
        self._drawn, batches, _ = parity.draw(specification, size, SEED)
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "reference.npz"))
            parity.write_reference(path, specification, size, SEED)
            with np.load(path, allow_pickle=False) as stored:
                kept = {name: stored[name] for name in stored if name.startswith(KEPT)}
        self._draws = any(draws.are_expected(value) for name, value in kept.items() if name.startswith("expected/"))
        self._stored = self._compared(kept)
        one = not (self._training or self._draws)
        batches = batches[:1] * parity.CHECKED_SETS if one else batches[: parity.CHECKED_STEPS]
        self._batches = [tuple(adapter.put(array) for array in batch) for batch in batches]

    def _compared(self, found: dict[str, Any]) -> dict[str, Any]:
        return found if self._draws else {name: found[name] for name in found if not name.endswith(NOT_COMPARED)}

    def verify(self, program: Program) -> None:
        """Raise Mismatch unless a program computes its specification."""
        outputs = parity.program_outputs(program, self._batches, self._get, self._drawn)
        parity.judge(self._compared(outputs), self._stored, str(self._stored["digest"]), self._precision, self._factor)

    def named(self, run: Callable[[Any], dict[str, Any]], layout: Callable[[Any], Any]) -> Program:
        """Make a program of a public kernel's ``run``, whose outputs ``layout`` puts into the layout of ours.

        The outputs of an optimizer are its parameters.
        """
        names = self._names()
        if not self._training:
            return Program(lambda *batch: in_order(layout(run([batch])["outputs"]), names))
        last: dict[str, Any] = {}

        def step(*batch: Any) -> dict[str, Any]:
            last.update(run([batch]))
            return last

        return Program(step, lambda: in_order(layout(last["outputs"]), names), reset=lambda: None)

    def _names(self) -> list[str]:
        stored = [name for name in self._stored if name.startswith("expected/") and name.endswith("[0]")]
        outputs = [name[len("expected/") : -len("[0]")] for name in stored]
        # Derivatives have the order of the parameters.
        return list(self._drawn) if self._training or set(outputs) == set(self._drawn) else outputs


def in_order(outputs: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return outputs by name: those that are no dictionary have the order of ``names``; extra ones get numbers."""
    if isinstance(outputs, dict):
        return outputs
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    return {names[index] if index < len(names) else str(index): value for index, value in enumerate(outputs)}


def differing_kernels(
    reference: Reference, runs: dict[str, Any], layouts: dict[str, Callable[[Any], Any]]
) -> dict[str, str]:
    """Return how public kernels differ from the reference, ``{name: words}``, without those that agree.

    ``layouts`` has, by the name of a kernel, what puts its outputs into the layout of ours.
    """
    found = {}
    for name, run in runs.items():
        try:
            reference.verify(reference.named(run, layouts.get(name, lambda outputs: outputs)))
        except parity.Mismatch as difference:
            found[name] = str(difference)
    return found


def differing_forms(ours: dict[str, Any], runs: dict[str, Any], batch: Any) -> dict[str, str]:
    """Return which runs of a batch have outputs of other shapes or types than ``ours``, ``{name: words}``."""
    right, found = forms(ours), {}
    for name, run in runs.items():
        given = forms(run([batch]))
        if len(given) != len(right) or not all(map(alike, given, right)):
            found[name] = f"the outputs are {said(given)}; ours are {said(right)}"
    return found


def forms(outputs: dict[str, Any]) -> list[Form]:
    found = []
    for value in outputs.values():
        kind = getattr(value, "dtype", "")
        found.append(Form(tuple(np.shape(value)), getattr(kind, "name", str(kind))))
    return found


def alike(found: Form, expected: Form) -> bool:
    """Tell whether shape and type are equal. Keras' train_on_batch returns a number, which has no type."""
    return found.shape == expected.shape and found.type in ("", expected.type)


def said(found: list[Form]) -> str:
    return " and ".join(f"{list(shape)} {kind}".rstrip() for shape, kind in found)
