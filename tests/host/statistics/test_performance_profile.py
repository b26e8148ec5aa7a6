from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.performance_profile import performance_profiles

TIMES = {
    "a": {"gemm": 1.0, "mlp": 4.0, "cnn": 1.0},
    "b": {"gemm": 2.0, "mlp": 2.0},
    "c": {"gemm": 1.0, "mlp": math.inf},
}


def test_profiles_are_shares_of_rows_within_a_factor_of_the_best():
    found = performance_profiles(TIMES)
    assert found["a"].factors == (1.0, 1.0, 2.0)
    assert found["b"].factors == (1.0, 2.0, math.inf)
    assert [found["b"].share(factor) for factor in (0.9, 1.0, 1.9, 2.0, 1e9)] == pytest.approx(
        [0, 1 / 3, 1 / 3, 2 / 3, 2 / 3]
    )


def test_failures_are_infinitely_slow():
    found = performance_profiles(TIMES)
    assert found["c"].factors == (1.0, math.inf, math.inf)
    assert [found[column].solved for column in "abc"] == pytest.approx([1.0, 2 / 3, 1 / 3])


def test_ties_are_won_by_both():
    assert [performance_profiles(TIMES)[column].share(1.0) for column in "abc"] == pytest.approx([2 / 3, 1 / 3, 1 / 3])


def test_a_row_that_no_column_solved_has_no_best():
    found = performance_profiles({"a": {"gemm": 1.0, "mlp": math.inf}, "b": {"gemm": 3.0}})
    assert found["b"].factors == (3.0,)
    assert performance_profiles({"a": {"mlp": math.inf}, "b": {}}) == {}


@given(
    st.dictionaries(
        st.sampled_from("abc"),
        st.dictionaries(st.sampled_from("xyz"), st.floats(0.001, 1000.0), min_size=1),
        min_size=1,
    ),
    st.floats(0.001, 1000.0),
)
def test_every_row_has_a_best_column_in_any_unit(times, unit):
    found = performance_profiles(times)
    assert sum(profile.share(1.0) for profile in found.values()) >= 1.0 - 1e-9
    scaled = performance_profiles({c: {row: time * unit for row, time in own.items()} for c, own in times.items()})
    for column, profile in found.items():
        assert scaled[column].factors == pytest.approx(profile.factors)
