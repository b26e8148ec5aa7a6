from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.roofline import achieved, bandwidth_for, floor_s, implausible

#: Caches of 1 and 10 MB, then memory.
CURVE = [(1e5, 100e9), (1e6, 80e9), (1e7, 40e9), (1e8, 10e9)]
positive = st.floats(1.0, 1e15)


def test_floor_is_the_longer_of_computing_and_moving():
    assert floor_s(2e9, 1e9, 100e9, CURVE) == pytest.approx(0.1)
    assert floor_s(20e9, 1e9, 100e9, CURVE) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("size", "rate"), [(0.0, 100e9), (2e5, 100e9), (2.1e5, 80e9), (2e7, 40e9), (2.1e7, 10e9), (1e12, 10e9)]
)
def test_bandwidth_is_the_best_of_probes_that_are_not_much_smaller(size, rate):
    assert bandwidth_for(size, CURVE) == rate
    assert bandwidth_for(size, CURVE[::-1]) == rate


def test_a_larger_probe_that_was_faster_counts():
    assert bandwidth_for(1e6, [(1e6, 10e9), (1e7, 30e9)]) == 30e9


@given(positive, positive, positive, st.floats(1.0, 10.0))
def test_fewer_operations_lower_the_floor_and_never_raise_it(flops, size, peak, divisor):
    assert floor_s(flops, size, peak, CURVE, flops_divisor=divisor) <= floor_s(flops, size, peak, CURVE)


def test_a_fast_algorithm_divides_the_operations_but_not_the_bytes():
    assert floor_s(9e9, 0.0, 1e9, [], flops_divisor=2.25) == pytest.approx(4.0)
    assert floor_s(0.0, 1e9, 1e9, CURVE, flops_divisor=2.25) == floor_s(0.0, 1e9, 1e9, CURVE)


def test_what_is_unknown_sets_no_floor():
    assert floor_s(1e9, 1e9, None, []) == 0.0
    assert implausible(1e-12, 1e9, 1e9, None, []) is None
    assert achieved(1.0, 0.0, 0.0, None, []) == achieved(1.0, 0.0, 0.0, 1e9, CURVE)
    assert achieved(1.0, 0.0, 0.0, None, []).flops_share is None


def test_achieved_rates_are_shares_of_the_peak():
    found = achieved(0.5, 1e9, 1e9, 4e9, CURVE)
    assert (found.flops_per_s, found.bytes_per_s) == (2e9, 2e9)
    assert (found.flops_share, found.bytes_share) == (0.5, 0.2)


def test_a_time_below_the_floor_is_refused_with_its_reason():
    assert implausible(0.011, 1e9, 0.0, 100e9, CURVE) is None
    assert implausible(0.0081, 1e9, 0.0, 100e9, CURVE) is None
    reason = implausible(0.0079, 1e9, 0.0, 100e9, CURVE)
    assert "1.27 times faster" in reason
    assert "1e+09 operations take at least 0.01 s" in reason
    assert implausible(0.0079, 1e9, 0.0, 100e9, CURVE, margin=0.3) is None


def test_the_reason_names_the_bytes_where_they_take_longer():
    assert "1e+09 bytes take at least 0.1 s" in implausible(0.01, 1e9, 1e9, 100e9, CURVE)


def test_no_time_at_all_is_refused():
    assert "infinitely" in implausible(0.0, 1e9, 0.0, 100e9, [])


@given(positive, positive, positive)
def test_a_step_at_the_peak_is_plausible_and_twice_as_fast_is_not(flops, size, peak):
    least = floor_s(flops, size, peak, CURVE)
    assert implausible(least, flops, size, peak, CURVE) is None
    assert implausible(least / 2, flops, size, peak, CURVE) is not None
