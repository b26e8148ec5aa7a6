"""Tests the workloads on grids: stencil and conjugate-gradient."""

from __future__ import annotations

import numpy as np
import pytest

from bench.registry import BUILT_IN
from bench.workloads import grid

NAMES = ("stencil", "conjugate-gradient")
EACH = pytest.mark.parametrize("workload", NAMES)
#: {workload: operations for each point of each iteration}
OPERATIONS = {"stencil": 6, "conjugate-gradient": 15}


def drawn(workload, size):
    random = np.random.RandomState(3)
    specification = BUILT_IN.specification(workload)
    parameters = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    return specification, parameters, specification.batch(size, random)[0].astype(np.float64)


def test_a_sweep_is_a_weighted_sum_of_each_point_and_its_neighbours():
    size = {"side": 4, "iterations": 1}
    specification, parameters, grid = drawn("stencil", size)
    found = specification.reference(size, parameters, (grid,))["grid"]
    rate = parameters["rate"]
    for row, column in np.ndindex(4, 4):
        places = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        near = sum(grid[place] for place in places if min(place) >= 0 and max(place) < 4)
        assert found[row, column] == pytest.approx((1 - 4 * rate) * grid[row, column] + rate * near, rel=1e-12)


def test_iterations_of_a_stencil_follow_each_other():
    size = {"side": 5, "iterations": 3}
    specification, parameters, grid = drawn("stencil", size)
    expected = grid
    for _ in range(3):
        expected = specification.reference({"side": 5, "iterations": 1}, parameters, (expected,))["grid"]
    np.testing.assert_array_equal(specification.reference(size, parameters, (grid,))["grid"], expected)


def test_conjugate_gradients_solve_the_system():
    side = 4
    specification, parameters, right = drawn("conjugate-gradient", {"side": side, "iterations": 1})
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    laplacian = 4 * np.eye(side**2) - np.kron(np.eye(side), line) - np.kron(line, np.eye(side))
    expected = np.linalg.solve(laplacian + parameters["shift"] * np.eye(side**2), right.reshape(-1))
    found = specification.reference({"side": side, "iterations": side**2}, parameters, (right,))["solution"]
    np.testing.assert_allclose(found.reshape(-1), expected, rtol=1e-9)


@EACH
def test_work_is_counted_for_each_point_of_each_iteration(workload):
    specification = BUILT_IN.specification(workload)
    size = {"side": 3, "iterations": 4}
    assert specification.useful_flops(size) == OPERATIONS[workload] * 4 * 9
    assert specification.compulsory_bytes(size, 4) == 4 * (9 + 9 + 1)
    assert specification.items(size) == 4


@EACH
def test_the_iterations_of_every_preset_are_even(workload):
    """The implementation in JAX does two in each turn of its loop."""
    assert all(size["iterations"] % 2 == 0 for size in BUILT_IN.specification(workload).SIZES.values())


@pytest.mark.parametrize("workload", NAMES)
def test_the_unrolled_form_has_the_specification_of_the_rolled_one(workload):
    rolled, unrolled = BUILT_IN.specification(workload), BUILT_IN.specification(f"{workload}-unrolled")
    names = unrolled.__all__
    assert {"SIZES", "batch", "parameters", "reference", "useful_flops"} <= set(names)
    assert all(getattr(unrolled, name) is getattr(rolled, name) for name in names)


@pytest.mark.parametrize(("iterations", "each"), [(2, 1), (6, 3), (7, 1), (20, 10), (100, 10)])
def test_a_turn_of_an_unrolled_loop_has_at_most_ten_iterations_and_is_not_the_only_one(iterations, each):
    assert grid.unrolled(iterations) == each
