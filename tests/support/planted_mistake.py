"""Trains specifications in float32 with NumPy alone, with a mistake planted, and gives what the check finds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bench.cell import MIXED
from bench.differentiation import loss_and_gradients
from bench.program import Program
from bench.worker.checking import optimizers, parity, rounding, tolerance

SEED = 1
#: The check of updates, and that of their projections, which large sizes get.
CHECKS = ("full", "reduced")


class Mistake(NamedTuple):
    """How a training differs from its specification; without arguments it does not."""

    #: What is replaced while losses and gradients are computed: (object or dictionary, name, value).
    replaced: tuple[tuple[Any, Any, Any], ...] = ()
    #: Maps the parameters to those that the network reads.
    read: Callable[[dict], dict] = dict
    #: Maps the gradients to those that the optimizer gets; the dictionary keeps what a later step needs.
    gradients: Callable[[dict, dict], dict] = lambda kept, gradients: gradients
    #: Has the arguments of ``optimizers.update``.
    update: Callable[[dict, dict, dict, dict], None] = optimizers.update


class Training:
    """A training as its specification describes it, but for one mistake, in float32 or in mixed precision."""

    def __init__(self, specification: Any, size: dict, mistake: Mistake, *, mixed: bool = False) -> None:
        self.rounded = rounding.to_bfloat16 if mixed else None
        self.specification, self.size, self.mistake = specification, size, mistake
        self.drawn, self.batches, _ = parity.draw(specification, size, SEED)
        self.initial = dict(self.drawn, **parity.initial_state(specification, size))
        self.current, self.state = dict(self.drawn), parity.initial_state(specification, size)
        self.moments: dict = {}
        self.kept: dict = {}

    def step(self, batch: tuple) -> float:
        def loss(size: dict, parameters: dict, state: dict, batch: tuple) -> tuple:
            return self.specification.loss(size, self.mistake.read(parameters), state, batch)

        with pytest.MonkeyPatch.context() as patch:
            for owner, name, value in self.mistake.replaced:
                (patch.setitem if isinstance(owner, dict) else patch.setattr)(owner, name, value)
            value, self.state, gradients = loss_and_gradients(
                loss, self.size, self.current, self.state, batch, self.rounded
            )
        given = self.mistake.gradients(self.kept, gradients)
        self.mistake.update(self.specification.OPTIMIZER, self.moments, self.current, given)
        return value

    def recorded(self) -> Program:
        """Make the steps that are checked, and return a program that repeats what they gave."""
        steps = [(self.step(batch), dict(self.current, **self.state)) for batch in self.batches[: parity.CHECKED_STEPS]]
        done: list[dict] = []

        def step(*batch: np.ndarray) -> dict:
            loss, values = steps[len(done)]
            done.append(values)
            return {"loss": loss}

        return Program(step, lambda: done[-1], done.clear)


@cache
def stored(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as reference:
        return dict(reference)


def shares(specification: Any, mistake: Mistake, folder: Path) -> dict[str, float]:
    """Return, for each of CHECKS, the largest error at the check size as a share of what float32 is allowed.

    The worker's own comparison confirms that it is a mismatch above 1, and none below. ``folder`` keeps references.
    """
    training = Training(specification, specification.SIZES["check"], mistake)
    program = training.recorded()
    return {check: share(training, program, folder, check == "reduced") for check in CHECKS}


def mixed_share(specification: Any, mistake: Mistake, folder: Path) -> float:
    """Return the largest error in mixed precision as a share of what is allowed there, as ``shares`` does."""
    training = Training(specification, specification.SIZES["check"], mistake, mixed=True)
    return share(training, training.recorded(), folder, False)


def share(training: Training, program: Program, folder: Path, reduced: bool) -> float:
    specification, mixed = training.specification, training.rounded is not None
    path = folder / f"{specification.__name__}-{reduced}-{mixed}.npz"
    if not path.exists():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parity, "FULL_FLOPS", 0.0 if reduced else float("inf"))
            parity.write_reference(str(path), specification, training.size, SEED, mixed=mixed)
    precision = MIXED if mixed else "float32"
    outputs = parity.program_outputs(program, training.batches, np.asarray, training.initial, reduced=reduced)
    factor = getattr(specification, "TOLERANCE_FACTOR", tolerance.TOLERANCE_FACTOR)
    reference = stored(path)
    found = max(
        parity.relative_error(value, reference["expected/" + name])
        / tolerance.allowed_error(reference, name, precision, factor)
        for name, value in outputs.items()
    )
    try:
        parity.judge(outputs, reference, parity.digest(training.drawn, training.batches), precision, factor)
    except parity.Mismatch:
        assert found > 1
    else:
        assert found <= 1
    return found
