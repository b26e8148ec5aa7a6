"""Tests that every implementation in NumPy computes what its specification says, in float64."""

from __future__ import annotations

import pytest
from numpy_outputs import implemented, relative_error

from bench.registry import BUILT_IN

#: Images come as float32, and draws are random: both have tests of their own.
OTHERS = ("input-pipeline", "lenet-input", "random-normal", "random-uniform")
NAMES = [name for name in BUILT_IN.workloads if BUILT_IN.has_implementation(name, "numpy") and name not in OTHERS]


@pytest.mark.parametrize("workload", NAMES)
@pytest.mark.parametrize("preset", ["check", "tiny"])
def test_an_implementation_in_numpy_agrees_with_its_specification(workload, preset):
    found, expected = implemented(workload, preset, "float64")
    assert found.keys() == expected.keys()
    assert all(relative_error(found[name], expected[name]) < 1e-12 for name in expected)
