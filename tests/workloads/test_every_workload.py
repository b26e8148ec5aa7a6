"""Tests that each reference computes in the dtype of its inputs, and each implementation in NumPy what it specifies."""

from __future__ import annotations

import numpy as np
import pytest
from numpy_outputs import implemented, relative_error

from bench.registry import BUILT_IN

#: Images come as float32, and draws are random: both have tests of their own.
OTHERS = ("input-pipeline", "lenet-input", "random-normal", "random-uniform")
NAMES = [name for name in BUILT_IN.workloads if BUILT_IN.has_implementation(name, "numpy") and name not in OTHERS]
#: The outputs of a training are its loss and gradients, and those of draws their law.
REFERENCES = [
    name
    for name in BUILT_IN.workloads
    if hasattr(BUILT_IN.specification(name), "reference") and not name.startswith("random-")
]


@pytest.mark.parametrize("workload", NAMES)
@pytest.mark.parametrize("preset", ["check", "tiny"])
def test_an_implementation_in_numpy_agrees_with_its_specification(workload, preset):
    found, expected = implemented(workload, preset, "float64")
    assert found.keys() == expected.keys()
    assert all(relative_error(found[name], expected[name]) < 1e-12 for name in expected)


def test_an_implementation_in_numpy_computes_in_the_precision_that_is_asked_for():
    found, expected = implemented("lengths-exact", "check", "float32")
    assert all(0.0 < relative_error(found[name], expected[name]) < 1e-5 for name in expected)


def test_workloads_of_every_kind_are_among_these():
    assert {"gather", "lengths-exact", "branch-python", "equation-of-state"} <= set(NAMES)
    assert {"gather", "gemm", "equation-of-state"} <= set(REFERENCES)


@pytest.mark.parametrize("workload", REFERENCES)
def test_a_reference_computes_in_the_dtype_of_its_inputs(workload):
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    for dtype in (np.float32, np.float64):
        random = np.random.RandomState(4)
        parameters = {name: value.astype(dtype) for name, value in specification.parameters(size, random).items()}
        batch = [
            array.astype(dtype) if array.dtype.kind == "f" else array for array in specification.batch(size, random)
        ]
        assert {array.dtype for array in specification.reference(size, parameters, batch).values()} == {np.dtype(dtype)}
