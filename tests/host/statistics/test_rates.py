from __future__ import annotations

import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.rates import rate


@given(st.integers(1, 400), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_bounds_are_those_of_scipy(of, data, level):
    count = data.draw(st.integers(0, of))
    found, test = rate(count, of, level), scipy.stats.binomtest(count, of)
    expected = test.proportion_ci(level, "exact")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    one_sided = [
        scipy.stats.binomtest(count, of, alternative=side).proportion_ci(level) for side in ("greater", "less")
    ]
    assert (found.at_least, found.at_most) == pytest.approx((one_sided[0].low, one_sided[1].high))


def test_what_no_failure_in_so_many_proves():
    assert rate(0, 299).at_most <= 0.01 < rate(0, 298).at_most
    assert rate(59, 59).at_least >= 0.95 > rate(58, 58).at_least


def test_without_a_trial_the_rate_can_be_anything():
    found = rate(0, 0)
    assert (found.low, found.high, found.at_least, found.at_most) == (0.0, 1.0, 0.0, 1.0)


@pytest.mark.parametrize(("count", "of"), [(3, 2), (-1, 5)])
def test_impossible_counts_are_refused(count, of):
    with pytest.raises(ValueError, match=f"{count} of {of} is not a rate"):
        rate(count, of)
