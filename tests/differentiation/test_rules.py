"""Tests the derivative of every function against finite differences, and that a wrong one is found."""

from __future__ import annotations

import numpy as np
import pytest
from finite_differences import Slopes
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.differentiation import loss_and_gradients, primitive
from bench.differentiation.tape import FUNCTIONS, UFUNCS
from bench.workloads.attention import erf

MOST = 1e-6
seeds = st.integers(0, 2**31)
few = st.integers(1, 4)

#: Elementwise functions and a map of standard normal numbers to where they are smooth.
UNARY = {
    np.negative: lambda x: x,
    np.positive: lambda x: x,
    np.exp: lambda x: x,
    np.expm1: lambda x: x,
    np.log: lambda x: 0.5 + np.abs(x),
    np.log1p: lambda x: np.abs(x),
    np.tanh: lambda x: x,
    np.sqrt: lambda x: 0.5 + np.abs(x),
    np.square: lambda x: x,
    np.reciprocal: lambda x: x + np.copysign(0.5, x),
    np.absolute: lambda x: x + np.copysign(0.1, x),
    np.sin: lambda x: x,
    np.cos: lambda x: x,
    erf: lambda x: x,
}
#: Functions of two arrays that may have different shapes, and a map of the second one.
BINARY = {
    np.add: lambda x: x,
    np.subtract: lambda x: x,
    np.multiply: lambda x: x,
    np.true_divide: lambda x: x + np.copysign(0.5, x),
    np.maximum: lambda x: x,
    np.minimum: lambda x: x,
}
#: Other functions: the shape of the array and what is computed of it.
OTHER = {
    "sum of all": ((3, 4), lambda x: x.sum()),
    "sum along an axis": ((3, 4), lambda x: np.sum(x, axis=0)),
    "sum along axes that stay": ((3, 4, 2), lambda x: x.sum(axis=(0, -1), keepdims=True)),
    "sum along axes": ((3, 4, 2), lambda x: x.sum(axis=(0, -1))),
    "mean of all": ((3, 4), lambda x: np.mean(x)),
    "mean along an axis": ((3, 4), lambda x: x.mean(axis=-1, keepdims=True)),
    "max of all": ((3, 4), lambda x: np.max(x)),
    "max along an axis": ((3, 4, 2), lambda x: x.max(axis=1)),
    "max along an axis that stays": ((3, 4, 2), lambda x: x.max(axis=-2, keepdims=True)),
    "reshape": ((3, 4), lambda x: x.reshape(2, -1)),
    "reshape to a tuple": ((3, 4), lambda x: np.reshape(x, (12,))),
    "transpose": ((2, 3, 4), lambda x: x.transpose(2, 0, 1)),
    "transpose to a tuple": ((2, 3, 4), lambda x: np.transpose(x, (1, -1, 0))),
    "T": ((3, 4), lambda x: x.T),
    "swapaxes": ((2, 3, 4), lambda x: x.swapaxes(-1, 0)),
    "broadcast_to": ((3, 1), lambda x: np.broadcast_to(x, (2, 3, 4))),
    "integer": ((3, 4), lambda x: x[1]),
    "slices": ((5, 4), lambda x: x[::2, 1:, np.newaxis]),
    "ellipsis": ((5, 4), lambda x: x[..., 0]),
    "repeated rows": ((3, 4), lambda x: x[np.array([[0, 2], [2, 2]])]),
    "elements": ((3, 4), lambda x: x[np.arange(3), np.array([1, 1, 3])]),
    "mask": ((3, 4), lambda x: x[np.arange(12).reshape(3, 4) % 3 == 0]),
    "take": ((3, 4), lambda x: np.take(x, np.array([3, 0, 3]), axis=1)),
    "iteration": ((3, 4), lambda x: sum(index * row for index, row in enumerate(x))),
    "where, twice": ((3, 4), lambda x: np.where(np.arange(4) % 2 == 0, x, 2 * x)),
    "where, a constant": ((3, 4), lambda x: np.where(np.arange(4) % 2 == 0, x, -1.0)),
    "stack": ((3, 4), lambda x: np.stack([x, x * x, np.ones((3, 4))], axis=-1)),
    "concatenate": ((3, 4), lambda x: np.concatenate([x, np.ones((3, 2)), x * x], axis=-1)),
    "pad": ((3, 4), lambda x: np.pad(x, ((1, 0), (2, 3)))),
    "windows": ((2, 5, 6, 3), lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3), axis=(1, 2))),
    "power of a number": ((3, 4), lambda x: x**2 + x**3),
    "reflected": ((3, 4), lambda x: 2 - 3 * x + 1 / (x * x + 1)),
    "used again": ((3, 4), lambda x: x * x + x[0] + x.sum()),
}


def gap(function, *arrays, seed=0):
    """Return the disagreement for a random linear form of ``function(*arrays)``."""
    form = np.random.RandomState(seed + 1).standard_normal(np.shape(function(*arrays)))

    def loss(size, parameters, state, batch):
        return (function(*parameters.values()) * form).sum(), state

    parameters = {str(index): array for index, array in enumerate(arrays)}
    _, _, gradients = loss_and_gradients(loss, {}, parameters, {}, ())
    assert [gradients[name].shape for name in parameters] == [array.shape for array in arrays]
    slopes = Slopes(lambda moved: loss({}, moved, {}, ())[0], parameters, seed, step=1e-4)
    return max(slopes.disagreement(gradients).values())


@pytest.mark.parametrize("function", UNARY, ids=lambda function: function.__name__)
@given(rows=few, columns=few, seed=seeds)
@settings(max_examples=20)
def test_a_function_of_one_array(function, rows, columns, seed):
    array = UNARY[function](np.random.RandomState(seed).standard_normal((rows, columns)))
    assert gap(function, array, seed=seed % 1000) < MOST


@st.composite
def broadcast(draw):
    """Draw two shapes that can be broadcast together."""
    shape = draw(st.lists(few, min_size=0, max_size=3))
    shapes = [tuple(1 if draw(st.booleans()) else length for length in shape)[draw(st.integers(0, 2)) :] for _ in "ab"]
    return shapes, draw(seeds)


@pytest.mark.parametrize("function", BINARY, ids=lambda function: function.__name__)
@given(drawn=broadcast())
@settings(max_examples=40)
def test_a_function_of_two_arrays_of_any_shapes(function, drawn):
    shapes, seed = drawn
    random = np.random.RandomState(seed)
    # No two numbers are nearly equal where a maximum is taken.
    left = random.randint(-20, 20, shapes[0]) / 7.0
    right = BINARY[function]((random.randint(-20, 20, shapes[1]) + 0.5) / 7.0)
    assert gap(function, left, right, seed=seed % 1000) < MOST


@given(drawn=broadcast())
@settings(max_examples=40)
def test_a_power_of_arrays(drawn):
    shapes, seed = drawn
    random = np.random.RandomState(seed)
    base, exponent = 0.5 + np.abs(random.standard_normal(shapes[0])), random.standard_normal(shapes[1])
    assert gap(np.power, base, exponent, seed=seed % 1000) < MOST


@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 4), (4, 2)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((5, 1, 3, 4), (2, 4, 5)),
        ((3, 4), (2, 4, 5)),
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (4, 2)),
        ((2, 3, 4), (4,)),
        ((4,), (2, 4, 5)),
    ],
)
@given(seed=seeds)
@settings(max_examples=10)
def test_products_of_matrices_of_stacks_of_them_and_of_vectors(shapes, seed):
    random = np.random.RandomState(seed)
    assert gap(np.matmul, *(random.standard_normal(shape) for shape in shapes), seed=seed % 1000) < MOST


@pytest.mark.parametrize("name", OTHER)
@given(seed=seeds)
@settings(max_examples=10)
def test_another_function(name, seed):
    shape, function = OTHER[name]
    # A permutation, so that no two elements are nearly equal where a maximum is taken.
    array = np.random.RandomState(seed).permutation(int(np.prod(shape))).reshape(shape) / 7.0 - 1.6
    assert gap(function, array, seed=seed % 1000) < MOST


def test_every_rule_is_tested():
    assert {*UNARY, *BINARY, np.power, np.matmul} - {erf} == set(UFUNCS)
    tested = " ".join(OTHER).replace("windows", "sliding_window_view").replace("amax", "max")
    assert all(function.__name__.replace("amax", "max") in tested for function in FUNCTIONS)


@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda function: function.__name__)
def test_a_rule_that_is_ten_per_million_wrong_is_found(ufunc, monkeypatch):
    random = np.random.RandomState(3)
    arrays = [0.5 + random.random_sample((3, 3)) for _ in range(ufunc.nin)]
    assert gap(ufunc, *arrays) < MOST
    right = UFUNCS[ufunc]

    def wrong(result, *operands):
        return [lambda gradient, pull=pull: pull(gradient) * 1.00001 for pull in right(result, *operands)]

    monkeypatch.setitem(UFUNCS, ufunc, wrong)
    assert gap(ufunc, *arrays) > MOST


def test_a_primitive_is_declared_with_its_derivative():
    def of(factor):
        @primitive
        def cube(values):
            """Cube."""
            return values**3, (lambda gradient: gradient * (factor * values**2),)

        return cube

    array = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(of(3)(array), array**3)
    assert (of(3).__name__, of(3).__doc__) == ("cube", "Cube.")
    assert gap(of(3), array) < MOST
    assert gap(of(4), array) > 0.01
