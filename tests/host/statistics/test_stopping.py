from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.pairs import compare
from bench.host.statistics.signed_rank import signed_rank_p
from bench.host.statistics.stopping import looks, sequential_interval, sequential_p, sequential_ratio, weights
from bench.host.statistics.verdict import ALPHA


def test_looks_grow_from_the_first_to_the_most():
    assert looks(10, 20) == (10, 14, 20)
    assert looks(14, 60) == (14, 19, 25, 34, 45, 60)
    assert looks(10, 10) == (10,)
    assert looks(3, 1) == (3,)


@given(st.integers(1, 60), st.integers(1, 200))
def test_looks_are_few_ascending_and_end_at_the_most(first, most):
    found = looks(first, most)
    assert found[-1] == max(first, most)
    assert found[0] >= first
    assert len(found) <= 6
    assert (np.diff(found) > 0).all()


@given(st.integers(1, 60), st.integers(8, 200))
def test_every_look_has_enough_pairs_for_its_share_of_alpha(first, most):
    found = looks(first, max(first, most))
    if found[-1] >= 8:
        assert all(2.0 ** (1 - look) / share <= ALPHA for look, share in zip(found, weights(found), strict=True))


def test_looks_too_close_to_each_other_are_one():
    assert looks(8, 9) == (9,)
    assert looks(5, 6) == (6,)


def test_first_look_is_later_where_its_share_is_too_small():
    assert looks(8, 20)[0] == 10
    assert looks(10, 40)[0] == 12


@given(st.integers(1, 60), st.integers(1, 200))
def test_shares_sum_to_one(first, most):
    assert weights(looks(first, most)).sum() == pytest.approx(1.0)
    assert (weights(looks(first, most)) > 0).all()


def test_shares_are_increments_of_the_squared_share_of_the_data():
    assert weights((10, 14, 20)) == pytest.approx([0.25, 0.24, 0.51])
    assert weights((10, 14), 20) == pytest.approx([0.25, 0.24])


ALL = np.arange(20)


def test_p_is_that_of_the_pairs_up_to_each_look_over_its_share():
    values = np.random.default_rng(1).normal(0.01, 0.01, 20)
    each = [signed_rank_p(values[:look]) / share for look, share in ((10, 0.25), (14, 0.24), (20, 0.51))]
    assert sequential_p(ALL, values, (10, 14, 20), 9) is None
    assert sequential_p(ALL, values, (10, 14, 20), 13) == pytest.approx(min(1.0, each[0]))
    assert sequential_p(ALL, values, (10, 14, 20), 14) == pytest.approx(min(1.0, *each[:2]))
    assert sequential_p(ALL, values, (10, 14, 20), 20) == pytest.approx(min(1.0, *each))


def test_rounds_that_gave_no_pair_do_not_shift_the_looks():
    rounds, values = np.array([0, 1, 2, 3, 4, 5, 6, 7, 11, 12]), np.ones(10)
    assert sequential_p(rounds, values, (10, 14, 20), 12) == 2**-7 / 0.25


@given(st.lists(st.floats(-1.0, 1.0), min_size=20, max_size=20))
def test_p_never_rises_from_look_to_look(values):
    found = [sequential_p(ALL, np.array(values), (10, 14, 20), done) for done in (10, 14, 20)]
    assert found == sorted(found, reverse=True)
    assert max(found) <= 1.0


def test_a_single_look_is_the_plain_test():
    values = np.random.default_rng(2).normal(0.01, 0.01, 20)
    found, plain = sequential_ratio(ALL, values, (20,), 20), compare(values)
    assert found == plain


def test_interval_is_wider_the_smaller_the_share():
    values = np.random.default_rng(3).normal(0.0, 0.01, 20)
    first = sequential_interval(ALL, values, (10, 14, 20), 10)
    plain = compare(values[:10]).deciding
    assert first[0] < plain[0] < plain[1] < first[1]
    assert sequential_interval(ALL, values, (10, 14, 20), 9) is None


def test_a_run_that_ended_early_is_looked_at_where_it_ended():
    values = np.full(12, 0.01)
    assert sequential_p(ALL[:12], values, (10, 20), 12) == 2**-9 / 0.25
    assert sequential_p(ALL[:12], values, (10, 20), 12, ended=True) == pytest.approx(2**-11 / 0.11)
    assert sequential_p(ALL[:9], values[:9], (10, 20), 9) is None
    assert sequential_p(ALL[:9], values[:9], (10, 20), 9, ended=True) == pytest.approx(2**-8 / 0.2025)
    assert sequential_p(ALL[:0], values[:0], (10, 20), 0, ended=True) is None


def test_no_pair_is_no_ratio_and_no_look_no_deciding_interval():
    assert sequential_ratio(ALL[:0], np.array([]), (10, 20), 10) is None
    early = sequential_ratio(ALL[:8], np.full(8, 1.0), (10, 20), 8)
    assert (early.p, early.deciding) == (1.0, None)


def false_alarms(p_of, trials: int = 1500) -> int:
    random = np.random.default_rng(4)
    return sum(p_of(random.normal(size=20)) <= 0.05 for _ in range(trials))


def test_more_looks_do_not_raise_the_false_alarms():
    planned = looks(8, 20, alpha=0.05)
    assert len(planned) >= 3
    # Binomial: more than 105 of 1500 at 5 % happens once in 2000 such studies.
    assert false_alarms(lambda values: sequential_p(ALL, values, planned, 20)) <= 105
    # Looks without alpha spending exceed it.
    assert false_alarms(lambda values: min(signed_rank_p(values[:look]) for look in planned)) > 105


def test_the_interval_is_common_to_all_looks():
    """A clear difference in the first rounds and none later: the first look's verdict stays; the estimate changes."""
    random = np.random.default_rng(8)
    values = np.concatenate([random.normal(0.05, 0.004, 14), random.normal(0.0, 0.004, 46)])
    rounds, planned = np.arange(60), (14, 23, 37, 60)
    intervals = [sequential_interval(rounds, values, planned, done) for done in planned]
    first, second = intervals[:2]
    assert second[0] >= first[0]
    assert second[1] <= first[1]
    assert intervals[0][0] > 1.03


def test_the_end_of_a_budget_does_not_change_the_verdict_of_a_look():
    """After one more round an extra look would need twelve pairs; the verdict of the look at ten stays."""
    values = np.full(11, 0.05)
    ratio = sequential_ratio(ALL[:11], values, (10, 14, 20), 11, ended=True)
    assert ratio.p == pytest.approx(2**-9 / 0.25)
    assert ratio.deciding is not None
    assert ratio.deciding[0] > 1.0


@pytest.mark.parametrize("seed", range(20))
def test_p_value_and_interval_exclude_equality_together(seed):
    values = np.random.default_rng(seed).normal(0.004, 0.006, 40)
    planned = (12, 18, 27, 40)
    for done in planned:
        p = sequential_p(np.arange(40), values, planned, done)
        low, high = sequential_interval(np.arange(40), values, planned, done)
        assert (p <= 0.01) == (low > 1.0 or high < 1.0)
