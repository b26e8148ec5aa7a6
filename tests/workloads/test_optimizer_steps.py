"""Tests the steps of an optimizer alone: given gradients, and counted work."""

from __future__ import annotations

import numpy as np
import pytest
from finite_differences import drawn

from bench.differentiation import loss_and_gradients
from bench.registry import BUILT_IN

#: {workload: (operations, numbers moved) for each element}
WORKLOADS = {"optimizer-step-sgd": (4, 5), "optimizer-step-adam": (12, 7), "optimizer-step-adamw": (14, 7)}
EACH = pytest.mark.parametrize("workload", WORKLOADS)


@EACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_loss_and_gradients_are_those_that_are_given(workload, dtype):
    specification = BUILT_IN.specification(workload)
    size = specification.SIZES["check"]
    parameters, state, batch = drawn(specification, size, dtype=dtype)
    loss, _, gradients = loss_and_gradients(specification.loss, size, parameters, state, batch)
    assert loss == batch[0] == specification.loss(size, parameters, state, batch)[0]
    assert loss.dtype == dtype
    for gradient, given in zip(gradients.values(), batch[1:], strict=True):
        np.testing.assert_array_equal(gradient, given)


@EACH
def test_work_is_counted_for_each_element(workload):
    specification = BUILT_IN.specification(workload)
    size = {"tensors": 5, "width": 3}
    operations, moved = WORKLOADS[workload]
    assert [value.shape for value in specification.parameters(size, np.random.RandomState(0)).values()] == [
        (3, 3), (3,), (3,), (3, 3), (3,),
    ]  # fmt: skip
    assert specification.useful_flops(size) == operations * 27
    assert specification.compulsory_bytes(size, 4) == moved * 4 * 27
    assert specification.items(size) == 5
