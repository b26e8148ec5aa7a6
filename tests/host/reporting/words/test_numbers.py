from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.reporting.words.numbers import (
    COUNTS,
    TIMES,
    choose_unit,
    format_factor,
    format_interval,
    format_number,
    format_share,
    format_value,
)
from bench.host.statistics.bootstrap import Estimate


@pytest.mark.parametrize(
    ("fewest", "value", "low", "high", "shown"),
    [
        (2, 1.2345, 1.2123, 1.2567, "1.234 [1.212, 1.257]"),
        (2, 1.2345, 1.1, 1.4, "1.23 [1.10, 1.40]"),
        (2, 315.2, 299.2, 315.3, "315 [299, 315]"),
        (2, 1.23456789, 1.23456, 1.23457, "1.235 [1.235, 1.235]"),
        (2, 9.7, 2.0, 31.0, "9.7 [2.0, 31.0]"),
        (2, 1034.0, 1023.0, 1055.0, "1034 [1023, 1055]"),
        (2, 0.031456, 0.0310, 0.0318, "0.0315 [0.0310, 0.0318]"),
        (3, 0.0783, 0.0772, 0.0789, "0.0783 [0.0772, 0.0789]"),
        (3, 2.334, 2.309, 2.358, "2.334 [2.309, 2.358]"),
        (3, 0.0046, 0.0040, 0.0053, "0.00460 [0.00400, 0.00530]"),
        (3, 9.7, 2.0, 31.0, "9.70 [2.00, 31.00]"),
        (3, 12.8, 12.8, 12.8, "12.8 [12.8, 12.8]"),
    ],
)
def test_digits_follow_the_interval_and_are_as_many_as_asked_for(fewest, value, low, high, shown):
    estimate = Estimate(value, low, high, 5)
    assert f"{format_value(estimate, fewest=fewest)} {format_interval(estimate, fewest=fewest)}" == shown


def test_value_without_interval_has_three_digits():
    assert format_value(Estimate(0.00123456, None, None, 1), 1e-3) == "1.23"
    assert format_interval(Estimate(1.0, None, None, 1)) == ""


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.0, "0"), (11.26, "11.3"), (0.04, "0.0400"), (1234.5, "1234")]
)
def test_numbers_without_known_precision_have_three_digits(value, shown):
    assert format_number(value) == shown


@pytest.mark.parametrize(
    ("values", "unit"), [([2.5], "s"), ([0.5], "ms"), ([3e-6, 4e-3], "µs"), ([5e-8], "ns"), ([1e-12], "ns"), ([], "")]
)
def test_unit_suits_the_middle_of_a_row(values, unit):
    assert choose_unit(values, TIMES).name == unit


def test_counts_below_a_thousand_have_no_factor():
    assert choose_unit([512.0], COUNTS).name == ""
    assert choose_unit([51_200.0], COUNTS).name == "10³"


@pytest.mark.parametrize("size", [1e3, 1e6, 1e9])
def test_a_power_of_ten_is_one_of_its_unit(size):
    assert choose_unit([size], COUNTS).size == size


@pytest.mark.parametrize(
    ("share", "shown"), [(0.02, "2%"), (0.00341, "0.34%"), (0.0268, "2.7%"), (0.12, "12%"), (2.1, "210%"), (0.0, "0%")]
)
def test_shares_have_two_digits(share, shown):
    assert format_share(share) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (0.000123, "0.00012"),
        (0.0047, "0.0047"),
        (0.00996, "0.010"),
        (0.0749, "0.075"),
        (0.0994, "0.099"),
        (0.0996, "0.10"),
        (0.994, "0.99"),
        (0.996, "1.0"),
        (9.94, "9.9"),
        (9.96, "10"),
        (12.9, "13"),
        (1234.5, "1234"),
    ],
)
def test_a_factor_has_two_digits_at_any_size(value, shown):
    assert format_factor(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0.0047, "0.0047"), (0.0749, "0.075"), (1.234, "1.23"), (12.9, "12.90")])
def test_a_factor_has_the_decimals_that_are_asked_for(value, shown):
    assert format_factor(value, 2) == shown


@given(st.floats(1e-12, 1e12))
def test_a_factor_is_shown_to_half_of_its_second_digit(value):
    assert float(format_factor(value)) == pytest.approx(value, rel=0.0501)


@given(
    st.floats(1e-9, 1e9),
    st.floats(0.0, 1.0, exclude_max=True),
    st.floats(1.0, 1e3),
    st.sampled_from([1e-9, 1e-3, 1.0, 1e6]),
    st.sampled_from([2, 3]),
)
def test_the_value_that_is_shown_lies_within_the_interval_that_is_shown(value, below, above, size, fewest):
    estimate = Estimate(value, value * (1.0 - below), value * above, 5)
    low, high = map(float, format_interval(estimate, size, fewest=fewest).strip("[]").split(", "))
    assert low <= float(format_value(estimate, size, fewest=fewest)) <= high


@given(st.floats(1e-9, 1e9), st.floats(1e-4, 0.5))
def test_what_is_shown_is_within_a_half_width_of_the_value(value, relative):
    estimate = Estimate(value, value * (1 - relative), value * (1 + relative), 5)
    assert abs(float(format_value(estimate)) - value) <= max(value * relative, value * 0.5001e-3)
