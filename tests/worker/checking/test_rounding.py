"""Tests how arrays are rounded to bfloat16, and how the tape rounds what it records."""

import numpy as np
import pytest

from bench.differentiation import loss_and_gradients
from bench.worker.checking.rounding import least_error, to_bfloat16

ULP = 2.0**-7


@pytest.mark.parametrize(("given", "right"), [
    (1.0, 1.0),
    (1.0 + ULP / 4, 1.0),
    (1.0 + ULP * 3 / 4, 1.0 + ULP),
    # Ties go to the even neighbour.
    (1.0 + ULP / 2, 1.0),
    (1.0 + ULP * 3 / 2, 1.0 + 2 * ULP),
    (-1.0 - ULP * 3 / 4, -1.0 - ULP),
    (0.0, 0.0),
    (np.inf, np.inf),
])  # fmt: skip
def test_numbers_are_rounded_to_the_nearest_and_ties_to_even(given, right):
    assert to_bfloat16(np.array([given], np.float32)) == np.array([right], np.float32)


def test_what_is_not_a_number_stays_so_and_what_is_no_float32_array_stays_as_it_is():
    assert np.isnan(to_bfloat16(np.array([np.nan], np.float32)))
    for value in (np.arange(3), np.ones(3), np.float32(1 / 3), 1 / 3):
        assert to_bfloat16(value) is value


def test_rounding_is_within_half_a_step_and_changes_nothing_the_second_time():
    random = np.random.RandomState(0)
    for shape in ((1000,), (7, 11), (3, 0)):
        drawn = (random.standard_normal(shape) * 10.0 ** random.randint(-20, 20, shape)).astype(np.float32)
        rounded = to_bfloat16(drawn.T)
        assert rounded.dtype == np.float32
        assert np.all(np.abs(rounded - drawn.T) <= np.abs(drawn.T) * 2.0**-8)
        assert np.array_equal(to_bfloat16(rounded), rounded)
        assert not np.any(np.ascontiguousarray(rounded).view(np.uint32) & 0xFFFF)


def test_the_tape_rounds_batch_results_and_gradients_but_not_the_loss():
    seen = []

    def loss(size, parameters, state, batch):
        product = parameters["weight"] * batch[0]
        seen.append(product.value)
        return product[1:].sum() / 3, state

    weight, batch = np.array([0.1, 1 / 3, 0.7], np.float32), np.array([0.3, 0.9, 1.1], np.float32)
    value, _, gradients = loss_and_gradients(loss, {}, {"weight": weight}, {}, (batch,), to_bfloat16)
    narrow = to_bfloat16(to_bfloat16(weight) * to_bfloat16(batch))
    assert np.array_equal(seen[0], narrow)
    assert value == narrow[1:].sum() / np.float32(3)
    slope = to_bfloat16(to_bfloat16(np.full(2, 1 / 3, np.float32)) * to_bfloat16(batch)[1:])
    assert np.array_equal(gradients["weight"], [0, *slope])


def test_a_sign_that_adam_decides_may_differ_and_none_of_sgd():
    assert least_error({"name": "adam"}, 100) == least_error({"name": "adamw"}, 100) == 0.1
    assert least_error({"name": "sgd"}, 100) == 2.0**-8
