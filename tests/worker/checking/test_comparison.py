"""Tests how a difference is put into words: a wrong shape is called one, and the worst element is named."""

import numpy as np
import pytest

from bench.program import Program
from bench.worker.checking import inputs, parity
from bench.worker.checking.comparison import describe, relative_error, worst_element

FOUND = {"error": 0.25, "allowed": 1e-6}


def test_a_wrong_shape_is_called_a_wrong_shape():
    said = describe("hidden", {"error": float("inf"), "allowed": 1e-6}, np.ones((2, 2, 8)), np.ones((2, 4, 8)), False)
    assert said == "hidden: shape (2, 2, 8), expected (2, 4, 8)"


def test_values_that_are_not_finite_are_called_so():
    assert describe("loss", FOUND, np.array([1.0, np.nan]), np.ones(2), False) == "loss is not finite"


def test_the_worst_element_is_named_with_both_values():
    value = np.ones((2, 3))
    value[1, 2] = 0.25
    said = describe("hidden", FOUND, value, np.ones((2, 3)), False)
    assert said == (
        "hidden has a relative error of 0.25 against float64; 1e-06 is allowed; worst at [1, 2]: 0.25, expected 1"
    )


def test_a_single_number_has_no_index():
    assert worst_element(np.array(2.0), np.array(1.0)) == "worst: 2, expected 1"


def test_a_complex_value_is_not_equal_to_its_real_part():
    value, expected = np.array([1, 2, 3]) + 5j, np.array([1.0, 2.0, 3.0])
    assert relative_error(value, expected) == float("inf")
    found = {"error": float("inf"), "allowed": 1e-6}
    assert describe("spectrum", found, value, expected, False) == "spectrum is complex, expected real numbers"


def test_complex_inputs_are_compared_as_complex():
    expected = np.array([3.0 + 4.0j])
    assert relative_error(expected.astype(np.complex64), expected) == 0.0
    assert relative_error(expected.real, expected) == pytest.approx(0.8)
    assert relative_error(expected + 5j, expected) == pytest.approx(1.0)


def test_a_wrong_boolean_is_put_into_words():
    value, expected = np.array([True, True]), np.array([True, False])
    assert relative_error(value, expected) == 1.0
    said = describe("mask", {"error": 1.0, "allowed": 1e-6}, value, expected, False)
    assert said.endswith("worst at [1]: 1, expected 0")


def test_no_element_of_projections_is_named():
    said = describe("update of weight", FOUND, np.zeros(16), np.ones(16), True)
    assert said == "update of weight has a relative error of 0.25 against float64; 1e-06 is allowed"


@pytest.mark.parametrize("shape", [(3, 2), (1, 2, 3), (3,), ()])
def test_a_parameter_of_another_shape_is_a_mismatch_even_where_it_could_be_broadcast(shape):
    program = Program(lambda: {"loss": 1.0}, lambda: {"weight": np.ones(shape)}, lambda: None)
    initial = {"weight": np.ones((2, 3), np.float32)}
    with pytest.raises(parity.Mismatch) as caught:
        parity.program_outputs(program, [()] * inputs.INPUT_SETS, np.asarray, initial)
    assert str(caught.value) == "weight: shape {}, expected (2, 3)".format(shape)
