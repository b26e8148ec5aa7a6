from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.reporting.figures import axes


@given(st.floats(1e-9, 1e9), st.floats(1.08, 1e6), st.integers(4, 8))
def test_ticks_are_few_ascending_and_within_the_axis(low, ratio, most):
    found = axes.ticks(low, low * ratio, most)
    assert len(found) <= most + 1
    assert found == sorted(set(found))
    assert all(low <= tick <= low * ratio for tick in found)


@given(st.floats(1e-9, 1e9), st.floats(1.2, 1e6))
def test_an_axis_has_two_ticks_at_least(low, ratio):
    assert len(axes.ticks(low, low * ratio)) >= 2


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.9, 2.2, [1.0, 1.2, 1.5, 2.0]),
        (0.9, 12.0, [1.0, 2.0, 5.0, 10.0]),
        (1.01, 1.19, [1.05, 1.1, 1.15]),
        (0.5, 3e3, [1.0, 10.0, 100.0, 1000.0]),
    ],
)
def test_ticks_are_round_numbers(low, high, expected):
    assert axes.ticks(low, high) == expected


@pytest.mark.parametrize(
    ("seconds", "shown"), [(2.0, "2 s"), (0.5, "500 ms"), (2e-5, "20 µs"), (1.0000000000000002e-06, "1 µs")]
)
def test_times_have_their_unit(seconds, shown):
    assert axes.write_time(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1"), (1000.0, "1000"), (1e6, "10⁶"), (2e4, "20000"), (1e12, "10¹²")]
)
def test_long_powers_of_ten_have_exponents(value, shown):
    assert axes.write_power(value) == shown


def test_ticks_whose_names_would_touch_are_left_out():
    """Of 7, 10, 12 and 15 ms the middle two collided in a panel of 31 letters."""
    places = [7e-3, 1e-2, 1.2e-2, 1.5e-2]
    assert axes.thin(places, 6e-3, 1.7e-2, axes.write_time, 31) == [7e-3, 1e-2, 1.5e-2]
    assert axes.thin(places, 6e-3, 1.7e-2, axes.write_time, 100) == places


@given(st.floats(1e-7, 10.0), st.floats(1.08, 1e4))
def test_an_axis_of_times_keeps_two_ticks_of_a_panel(low, ratio):
    found = axes.thin(axes.ticks(low, low * ratio, 4), low, low * ratio, axes.write_time, 31)
    assert len(found) >= 2
