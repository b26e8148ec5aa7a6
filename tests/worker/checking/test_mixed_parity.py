"""Tests the check of training in mixed precision: what is right passes, gross mistakes and float32 are mismatches."""

import numpy as np
import pytest

from bench.cell import MIXED
from bench.differentiation import loss_and_gradients
from bench.program import Program
from bench.registry import BUILT_IN
from bench.worker.checking import parity, tolerance
from bench.worker.checking.rounding import to_bfloat16

MLP = BUILT_IN.specification("mlp-train")
SIZE = MLP.SIZES["check"]


@pytest.fixture(scope="module", params=[True])
def reference(request, tmp_path_factory):
    """Return the path of a reference, that of mixed precision unless a test asks for the other one."""
    path = str(tmp_path_factory.mktemp("reference") / "mlp.npz")
    parity.write_reference(path, MLP, SIZE, 1, mixed=request.param)
    return path


def checked(reference, mistake=lambda name, change: change, rounded=to_bfloat16, precision=MIXED):
    """Check the specification itself as a program, with a mistake in its updates."""
    initial, batches, _ = parity.draw(MLP, SIZE, 1)
    current = {}

    def reset():
        current.update(initial)

    def step(*batch):
        loss, _, gradients = loss_and_gradients(MLP.loss, SIZE, current, {}, batch, rounded)
        parity.update(MLP.OPTIMIZER, {}, current, gradients)
        return {"loss": loss}

    def changed():
        return {name: initial[name] + mistake(name, value - initial[name]) for name, value in current.items()}

    outputs = parity.program_outputs(Program(step, changed, reset), batches, np.asarray, initial)
    return parity.compare(outputs, reference, parity.digest(initial, batches), precision, tolerance.TOLERANCE_FACTOR)


def test_a_right_program_passes(reference):
    found = checked(reference)
    assert all(each["error"] <= each["allowed"] for each in found.values())
    assert max(each["error"] for each in found.values()) > 2.0**-9


@pytest.mark.parametrize(("wrong", "mistake"), [
    ("bias1", lambda change: -change),
    ("weight0", lambda change: 0 * change),
    ("bias2", lambda change: 1.2 * change),
    ("weight1", lambda change: change[::-1]),
])  # fmt: skip
def test_a_mistake_is_a_mismatch(reference, wrong, mistake):
    with pytest.raises(parity.Mismatch, match=f"update of {wrong} has a relative error"):
        checked(reference, lambda name, change: mistake(change) if name == wrong else change)


def test_a_program_that_does_not_mix_is_a_mismatch(reference):
    with pytest.raises(parity.Mismatch, match="it computes in a longer format"):
        checked(reference, rounded=None)


def test_a_network_that_loses_much_in_float32_is_told_from_one_that_mixes():
    """An update of lstm-lm-train (small) was 2e-3 away in float32, more than roundings to bfloat16 need be."""
    stored = {"digest": np.array("same"), "reduced": np.array(False)}
    for name, error in (("a", 0.02), ("b", 0.03), ("c", 0.04)):
        stored["expected/" + name], stored["error/" + name] = np.ones(4), np.array(error)

    def outputs(*errors):
        return {name: np.ones(4) * (1 + error) for name, error in zip("abc", errors)}

    with pytest.raises(parity.Mismatch, match="it computes in a longer format"):
        parity.judge(outputs(2e-3, 1e-6, 1e-6), stored, "same", MIXED, tolerance.TOLERANCE_FACTOR)
    parity.judge(outputs(1e-3, 2e-3, 0), stored, "same", MIXED, tolerance.TOLERANCE_FACTOR)


@pytest.mark.parametrize("reference", [False], indirect=True)
def test_a_program_in_mixed_precision_is_too_far_from_the_reference_of_float32(reference):
    with pytest.raises(parity.Mismatch, match="relative error"):
        checked(reference, precision="float32")
