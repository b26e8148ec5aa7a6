from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import compare
from bench.host.statistics.verdict import Verdict, adjust_for_discovery, decide, minimum_pairs

ps = arrays(np.float64, st.integers(1, 20), elements=st.floats(0.0, 1.0))


@given(ps)
def test_adjustment_is_that_of_scipy(p):
    assert adjust_for_discovery(p) == pytest.approx(stats.false_discovery_control(p, method="bh"))


@given(ps)
def test_adjustment_never_lowers_a_p_value_and_keeps_the_order(p):
    adjusted = adjust_for_discovery(p)
    assert (adjusted >= p).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


def test_no_comparison_needs_no_adjustment():
    assert adjust_for_discovery(np.array([])).tolist() == []


@pytest.mark.parametrize(("alpha", "pairs"), [(0.05, 6), (0.01, 8), (0.001, 11)])
def test_minimum_pairs_is_what_the_exact_test_can_reach(alpha, pairs):
    assert minimum_pairs(alpha) == pairs
    assert compare(np.full(pairs, 0.1)).p <= alpha < compare(np.full(pairs - 1, 0.1)).p


@pytest.mark.parametrize(
    ("low", "high", "p", "verdict"),
    [
        (1.05, 1.10, 0.001, Verdict.DIFFERENT),
        (0.80, 0.90, 0.001, Verdict.DIFFERENT),
        (1.05, 1.10, 0.02, Verdict.INCONCLUSIVE),
        (0.99, 1.01, 0.5, Verdict.EQUIVALENT),
        (0.97, 1.03, 0.9, Verdict.INCONCLUSIVE),
        (1.005, 1.015, 0.0001, Verdict.EQUIVALENT),
        (0.979, 1.0, 0.5, Verdict.INCONCLUSIVE),
        (1.005, 1.025, 0.001, Verdict.INCONCLUSIVE),
        (0.970, 0.995, 0.001, Verdict.INCONCLUSIVE),
        (1.015, 1.030, 0.001, Verdict.DIFFERENT),
        (0.970, 0.985, 0.001, Verdict.DIFFERENT),
    ],
)
def test_verdict_follows_interval_and_p_value(low, high, p, verdict):
    assert decide(Estimate((low * high) ** 0.5, low, high, 10), p) is verdict


def test_a_larger_noise_floor_is_what_a_difference_must_exceed():
    ratio = Estimate(1.04, 1.02, 1.06, 10)
    assert decide(ratio, 0.001) is Verdict.DIFFERENT
    assert decide(ratio, 0.001, threshold=0.05) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("n", [1, 2, 7])
def test_too_few_pairs_give_no_verdict(n):
    assert decide(Estimate(2.0, 1.9, 2.1, n), 1e-9) is None


@given(st.floats(0.5, 2.0), st.floats(1.0, 1.2), st.floats(0.0, 1.0))
def test_verdict_does_not_depend_on_which_cell_is_the_baseline(centre, width, p):
    one = Estimate(centre, centre / width, centre * width, 9)
    other = Estimate(1 / centre, 1 / (centre * width), width / centre, 9)
    limit = 1.02
    if all(abs(bound - edge) > 1e-9 for bound in (one.low, one.value, one.high) for edge in (limit, 1 / limit)):
        assert decide(one, p) is decide(other, p)


def test_equal_cells_are_called_different_no_more_often_than_alpha():
    random = np.random.default_rng(11)
    ratios = [compare(random.normal(0.0, 0.02, 10)) for _ in range(400)]
    verdicts = [decide(ratio.estimate, ratio.p) for ratio in ratios]
    # Without adjustment at 1 %: more than 11 of 400 would happen once in a thousand such studies.
    assert verdicts.count(Verdict.DIFFERENT) <= 11
