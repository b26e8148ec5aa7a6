"""Checks a few steps again after timing, against the same reference, through what was timed: the program's ``run``.

A program may be right in its first steps only: one that counts its steps, remembers results, or has another ``run``
than ``step``. The contents of two batches are exchanged where the framework's arrays can be written to, so that a
result that was remembered for a batch is that of the other one. Large outputs and parameters are checked in part, and
slow programs in fewer steps, since this is done in many processes.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, NamedTuple, Sequence

import numpy as np

from ...cell import MIXED
from . import draws
from .comparison import describe, relative_error
from .parity import CHECKED_SETS, CHECKED_STEPS, Mismatch
from .projection import FEW_ELEMENTS, sampled
from .tolerance import allowed_error

#: After this time, no more single steps are made than the fewest: two of training, of which the second shows
#: the first update, one of inference. A run of several steps follows in any case.
SLOW_S = 0.01
#: A part of an array may have a larger relative error than all of it.
PART = 4.0


class LateCheck(NamedTuple):
    """A program that was checked before timing, and with what."""

    program: Any
    #: Does one step for each batch of a list, as timed samples do.
    run: Callable[[Sequence[Any]], Dict[str, Any]]
    batches: List[Any]
    #: Path of the reference.
    reference: str
    precision: str
    factor: float

    def verify(self, get: Callable[[Any], Any], synchronize: Callable[[Any], None]) -> int:
        """Raise Mismatch unless the program still computes its specification; return how many steps were checked."""
        batches = list(self.batches)
        if exchange(batches[0], batches[1]):
            batches[:2] = batches[1::-1]
        began = time.perf_counter()

        def steps(first: int, end: int) -> Dict[str, Any]:
            outputs = self.run(batches[first:end])
            synchronize(outputs)
            return outputs

        def slow() -> bool:
            return time.perf_counter() - began > SLOW_S

        with np.load(self.reference, allow_pickle=False) as stored:
            check = self._inference if self.program.parameters is None else self._training
            return check(stored, steps, slow, get)

    def _inference(self, stored: Any, steps: Any, slow: Callable[[], bool], get: Callable[[Any], Any]) -> int:
        """Compare the outputs of single steps, and the last ones of a run of several, also of a slow program."""
        checked = 0
        while checked < CHECKED_SETS and not (checked and slow()):
            self._outputs(stored, steps(checked, checked + 1), checked, get)
            checked += 1
        self._outputs(stored, steps(0, CHECKED_SETS), CHECKED_SETS - 1, get)
        return checked

    def _outputs(self, stored: Any, outputs: Dict[str, Any], index: int, get: Callable[[Any], Any]) -> None:
        names = names_of(stored, index)
        if sorted(outputs) != sorted(names):
            raise Mismatch(other_outputs(outputs, names))
        for name, value in outputs.items():
            name = "{}[{}]".format(name, index)
            expected = stored["sample/" + name]
            # Whether draws are as many as they should be, no part of them shows.
            value = get(value) if draws.are_expected(expected) else part(value, get)
            self._compare(stored, name, value, expected)

    def _training(self, stored: Any, steps: Any, slow: Callable[[], bool], get: Callable[[Any], Any]) -> int:
        """Compare losses, and the updates of small parameters; the early check compared the values after a reset.

        The updates are compared after single steps, and after one run of as many, which may leave out a batch. That run
        is made for a slow program, too, where its batches come from a pipeline or a loop of its framework's. Of others
        the last loss is compared after a run of as many steps as were made one by one.
        """
        self.program.reset()
        few = [] if bool(stored["reduced"]) else small(self.program.parameters())
        initial = {name: np.array(get(self.program.parameters()[name])) for name in few}
        losses = []  # type: List[float]
        while len(losses) < CHECKED_STEPS and not (len(losses) > 1 and slow()):
            losses.append(self._loss(steps(len(losses), len(losses) + 1), get))
        self._compare(stored, "loss", np.array(losses), stored["expected/loss"][: len(losses)])
        if len(losses) == CHECKED_STEPS:
            self._updates(stored, initial, get)
        if few and (len(losses) == CHECKED_STEPS or self.program.starts):
            self.program.reset()
            steps(0, CHECKED_STEPS)
            self._updates(stored, initial, get)
        elif not self.program.starts:
            self.program.reset()
            losses[-1] = self._loss(steps(0, len(losses)), get)
            self._compare(stored, "loss", np.array(losses), stored["expected/loss"][: len(losses)])
        return len(losses)

    def _loss(self, outputs: Dict[str, Any], get: Callable[[Any], Any]) -> float:
        if "loss" not in outputs:
            raise Mismatch(other_outputs(outputs, ["loss"]))
        return float(get(outputs["loss"]))

    def _updates(self, stored: Any, initial: Dict[str, Any], get: Callable[[Any], Any]) -> None:
        for name, value in initial.items():
            change = np.asarray(get(self.program.parameters()[name])) - value
            self._compare(stored, "update of " + name, change, stored["expected/update of " + name])

    def _compare(self, stored: Any, name: str, value: Any, expected: Any) -> None:
        """Raise Mismatch unless a part of an output is near enough to what is expected."""
        if draws.are_expected(expected):
            found = draws.judge(expected, value, sample=sampled(np.asarray(value)))
        else:
            whole = self.precision == MIXED  # its updates have errors of their own, and are whole
            allowed = (1.0 if whole else PART) * allowed_error(stored, name, self.precision, self.factor)
            found = {"error": relative_error(value, expected), "allowed": allowed}
        if not found["error"] <= found["allowed"]:
            wrong = describe(name, found, value, expected, False)
            raise Mismatch("after timing, {}".format(wrong))


def names_of(stored: Any, index: int) -> List[str]:
    """Return the names of the outputs that the reference has for a batch, of ``sample/product[0]`` product."""
    found = (name[len("sample/") :].rpartition("[") for name in stored if name.startswith("sample/"))
    return [name for name, _, place in found if place == "{}]".format(index)]


def other_outputs(outputs: Dict[str, Any], names: Sequence[str]) -> str:
    """Say which outputs a run gave in place of those of the specification."""
    return "after timing, the outputs are {}; the specification has {}".format(sorted(outputs), sorted(names))


def part(array: Any, get: Callable[[Any], Any]) -> Any:
    """Return some rows of a large array in NumPy, all of one that is not large; ``get`` converts an array."""
    # A slice of an array that can be written to is a view. JAX compiles one, which takes longer than the check.
    return get(sampled(array)) if writable(array) else sampled(get(array))


def small(parameters: Dict[str, Any]) -> List[str]:
    """Return the names of the smallest parameters, which together have few elements."""
    found, elements = [], 0
    for name in sorted(parameters, key=lambda name: int(np.prod(parameters[name].shape))):
        elements += int(np.prod(parameters[name].shape))
        if elements > FEW_ELEMENTS // 4:
            break
        found.append(name)
    return found


def exchange(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Exchange the contents of two batches in place; return False, with nothing changed, where arrays are constant."""
    pairs = list(zip(first, second))
    if not all(writable(one) and writable(other) for one, other in pairs):
        return False
    for one, other in pairs:
        if isinstance(one, np.ndarray):
            kept = one.copy()
            one[...] = other
            other[...] = kept
        else:
            kept = one.clone()
            one.copy_(other)
            other.copy_(kept)
    return True


def writable(array: Any) -> bool:
    """Tell whether an array can be written to in place: NumPy's and PyTorch's can."""
    return bool(array.flags.writeable) if isinstance(array, np.ndarray) else hasattr(array, "copy_")
