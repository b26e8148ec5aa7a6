"""Compares a program's outputs with the float64 reference of its specification.

A fixed tolerance would be too tight for an ill-conditioned workload and too loose for a well-conditioned one. So NumPy
also computes the specification in float32, several times, from parameters that differ in their last bit. The largest of
these errors, scaled to the unit roundoff of the tested precision, is the error of the precision itself; a program may
have ``tolerance.TOLERANCE_FACTOR`` times as much. A single float32 run is not enough, since another order of summation
can change the outcome of a near-tie in a ReLU or a maximum. A step of SGD has further runs, from parameters that differ
by ``TIE_BITS`` last bits: they decide ties that only a program with more rounding than NumPy's decides otherwise.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, Sequence

import numpy as np

from ...cell import MIXED
from ...differentiation import loss_and_gradients
from . import draws, inputs, returned, rounding
from .arrays import digest as digest
from .arrays import nudged as nudged
from .comparison import describe, relative_error, shape_difference
from .inputs import draw as draw
from .optimizers import update
from .projection import projected, sampled
from .tolerance import ROUNDOFF, TIE_BITS, allowed_error

#: A program computes in bfloat16 if the median of its errors is at least this share of the references' in bfloat16. It
#: was 0.04 to 1 in programs that mixed (least with Adam, where the sign of one element is allowed for), and at most
#: 0.002 in float32. Factors in TF32, which have an eighth of the error, are not told from it.
LEAST_MIXED_SHARE = 2.0**-6
#: Number of float32 references. Four missed a near-tie in one of 24 draws of mlp-train/small, sixteen in none; large
#: sizes get fewer, by ``RUNS_FLOPS``, to save time.
LEAST_RUNS, MOST_RUNS = 4, 16
RUNS_FLOPS = 2e10
#: For inference the number of input sets compared; for training the number of steps before parameters are compared.
CHECKED_SETS = 2
CHECKED_STEPS = 3
#: A training step of more FLOPs gets a reduced reference: the same losses, but updates after ``REDUCED_STEPS`` steps
#: (the second step shows momentum), ``REDUCED_RUNS`` float32 references, and projections in place of the updates. For
#: transformer-train/small one core needed 0.6 s for each 1e9 FLOPs of a step in full and 0.35 s reduced, so that a
#: full reference takes two minutes at the limit. Two runs refused as many correct programs, of 340, as four (3).
FULL_FLOPS = 2e11
REDUCED_STEPS, REDUCED_RUNS = 2, 2


class Mismatch(Exception):
    """A program does not compute its specification; the message names the output and the error."""


def as_dtype(array: Any, dtype: Any) -> Any:
    return array.astype(dtype) if array.dtype.kind == "f" else array


def initial_state(specification: Any, size: Dict[str, int]) -> Dict[str, Any]:
    """Return what a training step carries along beside its parameters, {name: float32 array}; most have nothing."""
    return specification.initial_state(size) if hasattr(specification, "initial_state") else {}


def expected_outputs(
    specification: Any, size: Dict[str, int], parameters: Any, batches: Any, dtype: Any, rounded: Any = None
) -> Dict[str, Any]:
    """Compute the specification in ``dtype``: outputs of inference, or losses and updates of training.

    Updates of parameters and state are compared, not their values, because a large weight with a small learning rate
    would hide a wrong gradient. ``rounded`` rounds each result and gradient of a training step.
    """
    batches = [tuple(as_dtype(array, dtype) for array in batch) for batch in batches]
    current = {name: as_dtype(array, dtype) for name, array in parameters.items()}
    outputs: Dict[str, Any] = {}
    if not specification.TRAINING:
        for index in range(CHECKED_SETS):
            given = specification.reference(size, current, batches[index])
            for name, value in returned.of(specification, "reference", given, dict, "{name: array}").items():
                outputs["{}[{}]".format(name, index)] = np.asarray(value)
        return outputs
    state = {name: as_dtype(array, dtype) for name, array in initial_state(specification, size).items()}
    initial, losses, moments = dict(current, **state), [], {}  # type: Any, List[Any], Dict[str, Any]
    reduced = is_reduced(specification, size)
    for index in range(REDUCED_STEPS if reduced else CHECKED_STEPS):
        loss, state, gradients = loss_and_gradients(specification.loss, size, current, state, batches[index], rounded)
        losses.append(loss)
        update(specification.OPTIMIZER, moments, current, gradients)
    for name, value in dict(current, **state).items():
        outputs["update of " + name] = updated(name, value - initial[name], reduced)
    for index in range(len(losses), CHECKED_STEPS):
        losses.append(specification.loss(size, current, state, batches[index])[0])
    outputs["loss"] = np.array(losses)
    return outputs


def is_reduced(specification: Any, size: Dict[str, int]) -> bool:
    """Return whether a size is so large that projections of the updates are compared."""
    return bool(specification.TRAINING and specification.useful_flops(size) > FULL_FLOPS)


def updated(name: str, change: Any, reduced: bool) -> Any:
    return projected(name, change) if reduced else change


def single_runs(specification: Any, size: Dict[str, int]) -> int:
    """Return the number of float32 references of a size. It depends on the work, so it is the same on every machine."""
    if is_reduced(specification, size):
        return REDUCED_RUNS
    flops = (CHECKED_STEPS if specification.TRAINING else CHECKED_SETS) * max(1, specification.useful_flops(size))
    return int(min(MOST_RUNS, max(LEAST_RUNS, RUNS_FLOPS // flops)))


def write_reference(
    path: str, specification: Any, size: Dict[str, int], seed: int, data: Any = None, *, mixed: bool = False
) -> None:
    """Compute the reference and store it at ``path`` (a .npz file without pickles), which all environments read.

    What it was computed from is stored, too, unless it is large. With ``mixed`` it has the errors of mixed precision.
    """
    parameters, batches, description = draw(specification, size, seed, data)
    exact = expected_outputs(specification, size, parameters, batches, np.float64)
    step, rounded = (2.0**-9, rounding.to_bfloat16) if mixed else (2.0**-23, None)

    def nearby(run: int, step: float) -> Dict[str, Any]:
        return expected_outputs(specification, size, nudged(parameters, run, step), batches, np.float32, rounded)

    runs = single_runs(specification, size)
    single = [nearby(run, step) for run in range(runs)]
    # Not under Adam, where every gradient near zero changes with the bits.
    by_ties = specification.TRAINING and specification.OPTIMIZER["name"] == "sgd" and not mixed
    tied = [nearby(run, TIE_BITS * step) for run in range(runs, runs + runs // 2)] if by_ties else []
    stored = {
        "digest": np.array(digest(parameters, batches)),
        "reduced": np.array(is_reduced(specification, size)),
    }
    stored.update(inputs.arrays(size, seed, parameters, batches, description))
    for name, value in exact.items():
        stored["expected/" + name] = value
        if not draws.are_expected(value):
            returned.verify_float64(specification, name, value.dtype)
            least = rounding.least_error(specification.OPTIMIZER, value.size) if mixed else 0.0
            stored["error/" + name] = np.array(max(least, largest_error(single, name, value)))
            stored["tied/" + name] = np.array(largest_error(tied, name, value) / TIE_BITS)
        if not specification.TRAINING:
            stored["sample/" + name] = sampled(value)
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **stored)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def largest_error(runs: Sequence[Dict[str, Any]], name: str, expected: Any) -> float:
    """Return the largest relative error of an output in ``runs``; 0 without any."""
    return max([0.0, *(relative_error(run[name], expected) for run in runs)])


def program_outputs(
    program: Any, batches: Any, get: Any, initial: Dict[str, Any], *, reduced: bool = False
) -> Dict[str, Any]:
    """Run ``program`` as ``expected_outputs`` runs the specification; ``initial`` holds its initial values.

    ``reduced`` is what ``is_reduced`` says. Raises Mismatch for a parameter of another shape.
    """
    outputs: Dict[str, Any] = {}
    if program.parameters is None:
        for index in range(CHECKED_SETS):
            for name, value in program.step(*batches[index]).items():
                outputs["{}[{}]".format(name, index)] = get(value)
        return outputs
    program.reset()
    losses = []
    for index in range(CHECKED_STEPS):
        losses.append(float(get(program.step(*batches[index])["loss"])))
        if index + 1 == (REDUCED_STEPS if reduced else CHECKED_STEPS):
            for name, value in program.parameters().items():
                outputs["update of " + name] = updated(name, change(name, get(value), initial), reduced)
    outputs["loss"] = np.array(losses)
    return outputs


def change(name: str, value: Any, initial: Dict[str, Any]) -> Any:
    """Return what training has added to a parameter; one that the specification lacks is compared by its name."""
    if name not in initial:
        return value
    wrong = shape_difference(name, value, initial[name])
    if wrong:
        raise Mismatch(wrong)
    return value - initial[name].astype(np.float64)


def compare(
    outputs: Dict[str, Any], path: str, drawn: str, precision: str, factor: float
) -> Dict[str, Dict[str, float]]:
    """Compare outputs with the reference at ``path``, as ``judge`` does."""
    with np.load(path, allow_pickle=False) as stored:
        return judge(outputs, stored, drawn, precision, factor)


def judge(
    outputs: Dict[str, Any], stored: Any, drawn: str, precision: str, factor: float
) -> Dict[str, Dict[str, float]]:
    """Compare outputs with the ``stored`` reference; return the error and the allowed error of each.

    ``drawn`` is the digest of this environment's inputs, ``factor`` the tolerance factor. Raises Mismatch for a wrong
    value, shape, name or input.
    """
    if str(stored["digest"]) != drawn:
        raise Mismatch("the inputs differ from those of the reference: this environment has other data or NumPy")
    names = [name[len("expected/") :] for name in stored if name.startswith("expected/")]
    if sorted(names) != sorted(outputs):
        raise Mismatch("the outputs are {}; the specification has {}".format(sorted(outputs), sorted(names)))
    found, shares = {}, []
    for name in names:
        right = stored["expected/" + name]
        if draws.are_expected(right):
            found[name] = draws.judge(right, outputs[name], draws.before(name, outputs))
        else:
            error = relative_error(outputs[name], right)
            found[name] = {"error": error, "allowed": allowed_error(stored, name, precision, factor)}
            shares.append(error / max(float(stored["error/" + name]), ROUNDOFF["float32"]))
    wrong = [name for name in names if not found[name]["error"] <= found[name]["allowed"]]
    if wrong:
        worst = max(wrong, key=lambda name: found[name]["error"] / found[name]["allowed"])
        sums = bool(stored["reduced"]) and worst != "loss"
        raise Mismatch(describe(worst, found[worst], outputs[worst], stored["expected/" + worst], sums))
    share = float(np.median(shares)) if shares else 1.0
    if precision == MIXED and share < LEAST_MIXED_SHARE:
        raise Mismatch(
            "its errors are {:.2g} of bfloat16's in the median: it computes in a longer format".format(share)
        )
    return found
