"""Tests the gradients of every training specification against finite differences of its float64 loss."""

from __future__ import annotations

import numpy as np
import pytest
from finite_differences import drawn, specification_disagreement, specification_gradients, specification_slopes

from bench.differentiation import loss_and_gradients
from bench.differentiation.tape import UFUNCS
from bench.registry import BUILT_IN

TRAINING = [
    name
    for name in BUILT_IN.workloads
    if BUILT_IN.specification(name).TRAINING and not hasattr(BUILT_IN.specification(name), "GIVEN_GRADIENTS")
]
EACH = pytest.mark.parametrize("workload", TRAINING)
MOST = 1e-6


@EACH
@pytest.mark.parametrize("seed", range(3))
def test_gradients_agree_with_finite_differences(workload, seed):
    specification = BUILT_IN.specification(workload)
    found = specification_disagreement(specification, specification.SIZES["check"], seed)
    assert max(found.values()) < MOST, found


@EACH
def test_a_rule_that_is_one_per_mille_wrong_is_found(workload, monkeypatch):
    """Each elementwise function and product of a specification is given a wrong rule in turn."""
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    slopes = specification_slopes(specification, size)
    used = set()
    for ufunc, right in list(UFUNCS.items()):

        def wrong(result, *operands, ufunc=ufunc, right=right):
            used.add(ufunc)
            factor = result.dtype.type(1.001)
            return [lambda gradient, pull=pull: pull(gradient) * factor for pull in right(result, *operands)]

        monkeypatch.setitem(UFUNCS, ufunc, wrong)
        found = slopes.disagreement(specification_gradients(specification, size))
        monkeypatch.setitem(UFUNCS, ufunc, right)
        if ufunc in used:
            assert max(found.values()) > 10 * MOST, ufunc
    assert {np.matmul, np.exp, np.log, np.subtract} <= used


@EACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loss_and_gradients_keep_the_dtype(workload, dtype):
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    parameters, state, batch = drawn(specification, size, dtype=dtype)
    loss, new, gradients = loss_and_gradients(specification.loss, size, parameters, state, batch)
    assert set(new) == set(state)
    assert {array.dtype for array in [loss, *new.values(), *gradients.values()]} == {np.dtype(dtype)}


@EACH
def test_the_loss_is_the_same_with_and_without_gradients(workload):
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    parameters, state, batch = drawn(specification, size)
    loss, _, _ = loss_and_gradients(specification.loss, size, parameters, state, batch)
    assert loss == specification.loss(size, parameters, state, batch)[0]


@EACH
def test_no_parameter_is_without_effect(workload):
    """Where a true gradient is zero, Adam turns a framework's rounding error into a full step."""
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["tiny"]
    _, _, gradients = loss_and_gradients(specification.loss, size, *drawn(specification, size))
    assert all(np.any(gradient) for gradient in gradients.values())
