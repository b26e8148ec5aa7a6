"""Tests what the tape promises: the dtype stays, what has no rule is refused, and arrays are not shared by mistake."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from bench.differentiation import hessian_vector, loss_and_gradients


def gradients_of(function, *arrays):
    """Differentiate the sum of ``function(*arrays)``."""
    parameters = {str(index): array for index, array in enumerate(arrays)}
    loss, _, found = loss_and_gradients(
        lambda size, parameters, state, batch: (function(*parameters.values()).sum(), state), {}, parameters, {}, ()
    )
    return loss, list(found.values())


def normal(*shape, dtype=np.float32):
    return np.random.RandomState(0).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (1,), (3, 4)])
def test_the_dtype_stays_with_python_numbers_of_any_shape(dtype, shape):
    loss, (gradient,) = gradients_of(
        lambda x: 0.5 * x / 3 + (1 - x) ** 2 + np.maximum(x, 0) + x.mean() + np.sqrt(x * x + 1),
        normal(*shape, dtype=dtype),
    )
    assert (loss.dtype, gradient.dtype) == (dtype, dtype)
    assert gradient.shape == shape


def test_an_array_of_another_dtype_is_refused_where_it_would_change_the_result():
    with pytest.raises(TypeError, match="multiply: float32 became float64; a float array beside it has another dtype"):
        gradients_of(lambda x: x * np.ones(3), normal(3))


def test_numbers_without_a_gradient_are_free():
    def loss(size, parameters, state, batch):
        return (parameters["a"] * batch[0]).sum(), {"mean": 0.5 * state["mean"] + parameters["a"].mean()}

    value, state, gradients = loss_and_gradients(
        loss, {}, {"a": np.ones(2), "unused": np.ones(3)}, {"mean": np.float64(4)}, (np.array([2.0, 5.0]),)
    )
    assert (value, state) == (7.0, {"mean": 3.0})
    assert type(state["mean"]) is not type(gradients)
    np.testing.assert_array_equal(gradients["a"], [2.0, 5.0])
    np.testing.assert_array_equal(gradients["unused"], np.zeros(3))


@pytest.mark.parametrize(("dtype", "error"), [(np.float32, 1e-6), (np.float64, 1e-14)])
def test_a_hessian_times_a_vector_is_as_exact_as_the_dtype(dtype, error):
    """The loss Σ exp(sᵢ) of s = A x has the Hessian Aᵀ diag(exp(s)) A; another parameter adds a block."""
    matrix, x, y = normal(4, 3, dtype=dtype), normal(3, 1, dtype=dtype), normal(2, dtype=dtype)

    def loss(size, parameters, state, batch):
        return np.exp(batch[0] @ parameters["x"]).sum() + (parameters["y"] ** 3).sum(), state

    vectors = {"x": 1 + x, "y": 1 - y}
    found = hessian_vector(loss, {}, {"x": x, "y": y}, (matrix,), vectors)
    exact = matrix.astype(np.float64)
    np.testing.assert_allclose(found["x"], exact.T @ (np.exp(exact @ x) * (exact @ vectors["x"])), rtol=error)
    np.testing.assert_allclose(found["y"], 6 * y * vectors["y"], rtol=error)
    assert {value.dtype for value in found.values()} == {np.dtype(dtype)}


def test_the_gradient_of_a_constant_is_zero():
    _, _, gradients = loss_and_gradients(lambda *arguments: (np.float64(3), {}), {}, {"a": np.ones(2)}, {}, ())
    np.testing.assert_array_equal(gradients["a"], np.zeros(2))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: np.arctan(x),
            r"numpy\.arctan: no rule for its derivative; declare one with bench.differentiation.primitive",
        ),
        (lambda x: np.var(x), r"numpy\.var: no rule"),
        (lambda x: np.add.reduce(x), r"numpy\.add\.reduce with .*: no rule"),
        (lambda x: np.add(x, x, out=np.zeros((2, 3))), r"numpy\.add\.__call__ with \['out'\]: no rule"),
        (lambda x: np.asarray(x), "a differentiated array was converted to a plain one"),
        (lambda x: x.max(axis=(0, 1)), r"numpy\.max over axes \(0, 1\): only one axis"),
        (lambda x: np.pad(x, 1, mode="edge"), "numpy.pad with mode 'edge': only 'constant' has a rule"),
        (lambda x: np.sum(a=x), "must be a positional argument"),
    ],
)
def test_what_cannot_be_differentiated_is_refused_by_name(function, message):
    with pytest.raises(TypeError, match=message):
        gradients_of(function, normal(2, 3, dtype=np.float64))


def test_a_variable_cannot_be_changed_in_place():
    def change(x):
        x += 1
        return x

    def set_item(x):
        x[0] = 1
        return x

    for function in (change, set_item):
        with pytest.raises(TypeError):
            gradients_of(function, normal(3))


def test_a_loss_that_is_no_number_is_refused():
    with pytest.raises(TypeError, match=r"a loss is one number; this one has the shape \(3,\)"):
        loss_and_gradients(lambda *arguments: (arguments[1]["a"] * 2, {}), {}, {"a": np.ones(3)}, {}, ())


def test_of_equal_values_the_first_is_the_maximum():
    _, (gradient,) = gradients_of(lambda x: x.max(axis=-1), np.ones((2, 3)))
    np.testing.assert_array_equal(gradient, [[1, 0, 0], [1, 0, 0]])


def test_a_relu_has_the_slope_0_at_0():
    _, (gradient,) = gradients_of(lambda x: np.maximum(x, 0), np.array([-1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(gradient, [0, 0, 1])


@pytest.mark.parametrize(("function", "slopes"), [(np.maximum, [0, 0, 1]), (np.minimum, [1, 0, 0])])
@pytest.mark.parametrize("zero", [0, 0.0, np.zeros(())])
def test_the_slope_at_a_number_does_not_depend_on_the_order_of_arguments(function, slopes, zero):
    x = np.array([-1.0, 0.0, 2.0])
    for ordered in (lambda x: function(x, zero), lambda x: function(zero, x)):
        np.testing.assert_array_equal(gradients_of(ordered, x)[1][0], slopes)


def test_gradients_of_one_array_do_not_change_those_of_another():
    """An array that two gradients share, or a view of it, is not added to in place."""
    for function in (
        lambda x, y: x + y + x[0] + x[1:].sum() + y.reshape(3, 2)[0, 0],
        lambda x, y: (x + y).T[0].sum() + (x - y)[0] + x[1] + y[0],
    ):
        x, y = normal(2, 3, dtype=np.float64), normal(2, 3, dtype=np.float64) + 1
        _, both = gradients_of(function, x, y)
        alone = [
            gradients_of(partial(lambda y, v, f=function: f(v, y), y), x)[1][0],
            gradients_of(partial(function, x), y)[1][0],
        ]
        for found, expected in zip(both, alone, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_comparisons_and_shapes_are_plain():
    def function(x):
        assert len(x) == 3
        assert np.shape(x) == x.shape == (3,)
        assert (x.ndim, x.size) == (1, 3)
        assert isinstance(x > 0, np.ndarray)
        assert int(np.argmax(x)) == int(x.value.argmax())
        assert x[0] != x[1]
        return x

    gradients_of(function, normal(3))
