"""Tests the perceptron whose layers are chosen by data."""

from __future__ import annotations

import numpy as np
import pytest

from bench.registry import BUILT_IN
from bench.worker.checking import parity

NAMES = ("branch-if", "branch-where", "branch-python")
EACH = pytest.mark.parametrize("workload", NAMES)
specification = BUILT_IN.specification("branch-if")


@pytest.mark.parametrize("preset", ["check", "tiny", "small"])
def test_batches_take_different_branches_and_none_is_decided_by_rounding(preset):
    size = specification.SIZES[preset]
    parameters, batches, _ = parity.draw(specification, size, 1)
    taken = []
    for (hidden,) in batches:
        choices = []
        for index in range(size["layers"]):
            decision = float(hidden[0] @ parameters[f"probe{index}"])
            assert abs(decision) > 1e-4 * np.linalg.norm(hidden[0]) * np.linalg.norm(parameters[f"probe{index}"])
            choices.append(decision > 0)
            one = {f"{name}0": parameters[f"{name}{index}"] for name in ("probe", "upper", "lower")}
            hidden = specification.reference({"layers": 1}, one, (hidden,))["output"]
        assert 0 < sum(choices) < len(choices)
        taken.append(tuple(choices))
    assert len(set(taken)) == len(taken)


def test_a_layer_is_the_branch_that_its_probe_chooses():
    hidden = np.array([[1.0, -2.0], [3.0, 4.0]])
    weights = {"upper0": np.eye(2), "lower0": 2 * np.eye(2)}
    for probe, expected in (([1.0, 0.0], np.maximum(hidden, 0)), ([0.0, 1.0], np.tanh(2 * hidden))):
        found = specification.reference({"layers": 1}, {**weights, "probe0": np.array(probe)}, (hidden,))
        np.testing.assert_array_equal(found["output"], expected)


@EACH
def test_work_is_that_of_one_branch(workload):
    size = {"batch": 3, "width": 4, "layers": 2}
    counted = BUILT_IN.specification(workload)
    # In each of 2 layers 3x4 times 4x4, and a probe of 4.
    assert counted.useful_flops(size) == 2 * (2 * 3 * 4 * 4 + 2 * 4)
    assert counted.compulsory_bytes(size, 4) == 4 * (2 * (16 + 4) + 2 * 3 * 4)
    assert counted.items(size) == 3
