"""Trains specifications in float32 with NumPy alone, with a mistake planted, and says what the check finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.differentiation import loss_and_gradients
from bench.program import Program
from bench.worker.checking import optimizers, parity

SEED = 1


class Faithful:
    """A program that trains as its specification says; a subclass plants a mistake in a method."""

    def __init__(self, specification: Any, size: dict) -> None:
        self.specification, self.size = specification, size
        self.optimizer = dict(specification.OPTIMIZER)
        self.drawn, self.batches, _ = parity.draw(specification, size, SEED)
        self.initial = dict(self.drawn, **parity.initial_state(specification, size))
        self.reset()

    def reset(self) -> None:
        self.current = dict(self.drawn)
        self.state = parity.initial_state(self.specification, self.size)
        self.moments: dict = {}

    def loss(self, size: dict, parameters: dict, state: dict, batch: tuple) -> tuple:
        return self.specification.loss(size, parameters, state, batch)

    def changed(self, gradients: dict) -> dict:
        return gradients

    def step(self, *batch: np.ndarray) -> dict:
        loss, self.state, gradients = loss_and_gradients(self.loss, self.size, self.current, self.state, batch)
        optimizers.update(self.optimizer, self.moments, self.current, self.changed(gradients))
        return {"loss": loss}

    def parameters(self) -> dict:
        return dict(self.current, **self.state)


def worst(trained: Faithful, folder: Path) -> float:
    """Return the largest error of a program as a share of what is allowed; above 1 it is a mismatch.

    ``folder`` keeps the references.
    """
    path = str(folder / f"{trained.specification.__name__}.npz")
    if not Path(path).exists():
        parity.write_reference(path, trained.specification, trained.size, SEED)
    program = Program(trained.step, trained.parameters, trained.reset)
    outputs = parity.program_outputs(program, trained.batches, np.asarray, trained.initial)
    factor = getattr(trained.specification, "TOLERANCE_FACTOR", parity.TOLERANCE_FACTOR)
    with np.load(path, allow_pickle=False) as stored:
        return max(
            parity.relative_error(value, stored["expected/" + name])
            / parity.allowed_error(stored, name, "float32", factor)
            for name, value in outputs.items()
        )


def optimizer_mistakes(options: dict) -> dict[str, dict]:
    """Return optimizers that differ from one as the conventions of frameworks do, by the mistake's name."""
    if options["name"] == "sgd" and not options.get("momentum"):
        return {"a momentum": {**options, "momentum": 0.9}}
    if options["name"] == "sgd":
        return {"no momentum": {**options, "momentum": 0.0}, "a dampened velocity": {**options, "learning_rate": 0.005}}
    return {
        "another second moment": {**options, "beta2": 0.99 if options["beta2"] != 0.99 else 0.999},
        "a larger epsilon": {**options, "epsilon": 1e-4},
        **({"no decay": {**options, "weight_decay": 0.0}} if options["name"] == "adamw" else {}),
    }


def wrong_gradient(name: str, share: float) -> Callable[[Any, dict], dict]:
    """Add to one gradient a share of its neighbours'; a factor alone would not change a step of Adam."""

    def changed(self: Any, gradients: dict) -> dict:
        right = gradients[name]
        return {**gradients, name: right + np.roll(right, 1).astype(right.dtype) * np.float32(share)}

    return changed
