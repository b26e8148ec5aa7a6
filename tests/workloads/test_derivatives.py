"""Tests the workloads whose outputs are derivatives against finite differences, and their counted work."""

from __future__ import annotations

import numpy as np
import pytest

from bench.registry import BUILT_IN

LOOPED = pytest.mark.parametrize("workload", ["per-sample-gradients", "per-sample-gradients-loop"])
OF_PERCEPTRONS = pytest.mark.parametrize("workload", ["per-sample-gradients", "hessian-vector"])
STEP = 1e-5


def drawn(workload, size):
    random = np.random.RandomState(2)
    specification = BUILT_IN.specification(workload)
    parameters = {name: value.astype(np.float64) for name, value in specification.parameters(size, random).items()}
    batch = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in specification.batch(size, random)]
    return specification, parameters, batch


def tanh_loss(parameters, inputs, labels):
    count, hidden = len(parameters) // 2, inputs
    for index in range(count):
        hidden = hidden @ parameters[f"weight{index}"] + parameters[f"bias{index}"]
        hidden = np.tanh(hidden) if index < count - 1 else hidden
    chosen = hidden[np.arange(len(labels)), labels]
    return (np.log(np.exp(hidden).sum(axis=-1)) - chosen).mean()


@LOOPED
def test_the_mean_of_the_gradients_of_rows_is_the_gradient_of_the_batch(workload):
    size = {"batch": 3, "inputs": 4, "hidden": 5, "layers": 1, "classes": 3}
    specification, parameters, batch = drawn(workload, size)
    found = specification.reference(size, parameters, batch)
    for name, value in parameters.items():
        assert found[name].shape == (3, *value.shape)
        index = tuple(0 for _ in value.shape)
        slopes = []
        for sign in (1, -1):
            moved = value.copy()
            moved[index] += sign * STEP
            slopes.append(BUILT_IN.specification("mlp-train").loss(size, {**parameters, name: moved}, {}, batch)[0])
        assert found[name].mean(axis=0)[index] == pytest.approx((slopes[0] - slopes[1]) / (2 * STEP), abs=1e-8)


@LOOPED
def test_gradients_of_rows_do_not_depend_on_other_rows(workload):
    size = {"batch": 3, "inputs": 4, "hidden": 5, "layers": 1, "classes": 3}
    specification, parameters, (inputs, labels) = drawn(workload, size)
    whole = specification.reference(size, parameters, (inputs, labels))
    alone = specification.reference(size, parameters, (inputs[1:2], labels[1:2]))
    assert all(np.array_equal(whole[name][1], alone[name][0]) for name in whole)


def test_a_hessian_times_a_vector_is_the_derivative_of_the_gradient_along_it():
    """The form vᵀ H u of another direction u is a mixed second difference of the loss."""
    size = {"batch": 3, "inputs": 4, "hidden": 5, "layers": 2, "classes": 3}
    specification, parameters, (inputs, labels, *vectors) = drawn("hessian-vector", size)
    products = specification.reference(size, parameters, (inputs, labels, *vectors))
    random, step = np.random.RandomState(0), 1e-3
    for only in [*parameters, None]:
        other = {k: random.standard_normal(v.shape) * (only in (k, None)) for k, v in parameters.items()}

        def at(first, second, other=other):
            moved = zip(parameters, parameters.values(), vectors, strict=True)
            return tanh_loss({k: v + first * w + second * other[k] for k, v, w in moved}, inputs, labels)

        mixed = (at(step, step) - at(step, -step) - at(-step, step) + at(-step, -step)) / (4 * step**2)
        expected = sum(np.sum(products[name] * other[name]) for name in parameters)
        assert mixed == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_a_backward_pass_has_the_slopes_of_the_weighted_probabilities():
    size = {"rows": 3, "columns": 5}
    specification, parameters, (inputs, gradient) = drawn("layernorm-softmax-backward", size)
    forward = BUILT_IN.specification("layernorm-softmax")
    found = specification.reference(size, parameters, (inputs, gradient))
    assert sorted(found) == ["inputs", "scale", "shift"]
    arrays = dict(parameters, inputs=inputs)
    for name, array in arrays.items():
        assert found[name].shape == array.shape
        for index in np.ndindex(array.shape):
            values = []
            for sign in (1, -1):
                moved = {key: value.copy() for key, value in arrays.items()}
                moved[name][index] += sign * STEP
                values.append(np.sum(forward.reference(size, moved, (moved["inputs"],))["probabilities"] * gradient))
            assert found[name][index] == pytest.approx((values[0] - values[1]) / (2 * STEP), abs=1e-8)


def test_the_work_of_a_backward_pass_includes_the_forward_pass():
    size = {"rows": 3, "columns": 4}
    specification = BUILT_IN.specification("layernorm-softmax-backward")
    # Forward 4 * 12 and 5 a row; backward 4 * 4 for the softmax, 4 * 3 for shift and scale, 4 * 8 and 2 means for the
    # normalisation.
    assert specification.useful_flops(size) == 3 * (48 + 5 + 16 + 12 + 32 + 2)
    # Rows, their gradient and that of the outputs; scale, shift and the gradients of both.
    assert specification.compulsory_bytes(size, 4) == 4 * (3 * 12 + 4 * 4)
    assert specification.items(size) == 3


@OF_PERCEPTRONS
def test_work_is_counted_as_by_hand(workload):
    size = {"batch": 2, "inputs": 3, "hidden": 4, "layers": 1, "classes": 5}
    specification = BUILT_IN.specification(workload)
    first, second, count = 2 * 3 * 4, 2 * 4 * 5, 3 * 4 + 4 + 4 * 5 + 5
    if workload.startswith("per-sample-gradients"):
        # Two operations forward, one for each element of an outer product, and two backward except to the inputs.
        assert specification.useful_flops(size) == 3 * first + 5 * second
        assert specification.compulsory_bytes(size, 4) == 4 * (count + 2 * count + 2 * 3)
    else:
        # Of the first layer the values, their derivatives along the vector, and the product with the inputs.
        assert specification.useful_flops(size) == 2 * (3 * first + 8 * second)
        assert specification.compulsory_bytes(size, 4) == 4 * (3 * count + 2 * 3)
    assert specification.items(size) == 2
