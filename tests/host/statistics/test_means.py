"""Tests Student's interval and test of a mean, against each other and against numbers from tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.means import estimate_mean, mean_p


def test_the_interval_and_the_p_value_are_those_of_the_tables():
    values = np.array([1.0, 2.0, 3.0])
    found = estimate_mean(values)
    # t(0.975, 2) = 4.30265, and the standard error is 1 / sqrt(3).
    assert (found.low, found.high) == (pytest.approx(2.0 - 2.484138), pytest.approx(2.0 + 2.484138))
    # t = 2 / 0.57735 = 3.4641 with 2 degrees of freedom: p = 1 - t / sqrt(t² + 2).
    assert mean_p(values, 0.0) == pytest.approx(1.0 - 3.4641016 / (3.4641016**2 + 2.0) ** 0.5)


def test_few_and_equal_values_have_a_p_value():
    assert mean_p(np.array([3.0]), 0.0) == 1.0
    assert mean_p(np.array([3.0, 3.0]), 3.0) == 1.0
    assert mean_p(np.array([3.0, 3.0]), 0.0) == 0.0


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=9, unique=True), st.floats(-5, 5))
def test_the_interval_leaves_out_what_the_test_rejects(listed, mean):
    values = np.array(listed)
    found, p = estimate_mean(values), mean_p(values, mean)
    if abs(p - 0.05) > 1e-9 and values.std() > 1e-6:
        assert (p < 0.05) == (not found.low <= mean <= found.high)
