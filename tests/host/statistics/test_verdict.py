from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench.host.statistics.bootstrap import Estimate
from bench.host.statistics.pairs import DECIDING_LEVEL, Ratio, compare, deciding_interval
from bench.host.statistics.signed_rank import signed_rank_p
from bench.host.statistics.verdict import (
    ALPHA,
    Verdict,
    adjust_for_claims,
    adjust_for_discovery,
    decide,
    minimum_pairs,
)

ps = arrays(np.float64, st.integers(1, 20), elements=st.floats(0.0, 1.0))


def ratio(low: float, high: float, value: float | None = None) -> Ratio:
    return Ratio(Estimate((low * high) ** 0.5 if value is None else value, None, None, 10), 0.0, (low, high))


@given(ps)
def test_adjustment_for_discovery_is_that_of_scipy(p):
    assert adjust_for_discovery(p) == pytest.approx(scipy.stats.false_discovery_control(p, method="bh"))


@given(ps)
def test_adjustment_for_claims_rejects_step_by_step(p):
    adjusted = adjust_for_claims(p)
    for alpha in (0.001, 0.01, 0.05, 0.3):
        ascending = np.argsort(p)
        rejected = set()
        for step, index in enumerate(ascending.tolist()):
            if p[index] * (len(p) - step) > alpha:
                break
            rejected.add(index)
        assert set(np.flatnonzero(adjusted <= alpha).tolist()) == rejected


@pytest.mark.parametrize("adjust", [adjust_for_discovery, adjust_for_claims])
@given(p=ps)
def test_adjustment_never_lowers_a_p_value_and_keeps_the_order(adjust, p):
    adjusted = adjust(p)
    assert (adjusted >= p).all()
    assert (adjusted <= 1.0).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


@given(ps)
def test_claims_are_held_to_more_than_discoveries(p):
    assert (adjust_for_claims(p) >= adjust_for_discovery(p) - 1e-12).all()


@pytest.mark.parametrize("adjust", [adjust_for_discovery, adjust_for_claims])
def test_no_comparison_needs_no_adjustment(adjust):
    assert adjust(np.array([])).tolist() == []


@pytest.mark.parametrize(("alpha", "pairs"), [(0.05, 6), (0.01, 8), (0.001, 11)])
def test_minimum_pairs_is_what_the_exact_test_can_reach(alpha, pairs):
    assert minimum_pairs(alpha) == pairs
    assert signed_rank_p(np.full(pairs, 0.1)) <= alpha < signed_rank_p(np.full(pairs - 1, 0.1))


def test_a_share_of_alpha_needs_more_pairs():
    assert minimum_pairs(0.01, 0.25) == 10
    assert signed_rank_p(np.full(10, 0.1)) / 0.25 <= 0.01 < signed_rank_p(np.full(9, 0.1)) / 0.25


def test_level_of_the_deciding_interval_is_that_of_the_test():
    assert pytest.approx(1.0 - ALPHA) == DECIDING_LEVEL
    assert [compare(np.ones(n)).deciding is None for n in (minimum_pairs() - 1, minimum_pairs())] == [True, False]


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
        # The estimate is below 2 %, but equality is excluded and 2 % is not.
        (1.005, 1.025, 0.001, Verdict.DIFFERENT),
        (0.970, 0.995, 0.001, Verdict.DIFFERENT),
        (1.005, 1.025, 0.011, Verdict.INCONCLUSIVE),
    ],
)
def test_verdict_follows_interval_and_p_value(low, high, p, verdict):
    assert decide(ratio(low, high), p) is verdict


def test_the_noise_floor_is_what_a_difference_must_exceed():
    found = ratio(1.02, 1.06, 1.04)
    assert decide(found, 0.001, floor=0.039) is Verdict.DIFFERENT
    assert decide(found, 0.001, floor=0.041) is Verdict.INCONCLUSIVE
    assert decide(ratio(1 / 1.06, 1 / 1.02, 1 / 1.04), 0.001, floor=0.041) is Verdict.INCONCLUSIVE


def test_equivalence_is_within_the_practical_threshold_and_noise_does_not_create_it():
    assert decide(ratio(0.98, 1.03), 0.5, practical=0.04) is Verdict.EQUIVALENT
    assert decide(ratio(0.98, 1.03), 0.5, floor=0.04) is Verdict.INCONCLUSIVE
    assert decide(ratio(0.99, 1.01), 0.5, floor=0.001) is Verdict.EQUIVALENT
    assert decide(ratio(0.99, 1.01), 0.5, practical=0.005) is Verdict.INCONCLUSIVE


def test_a_disturbed_comparison_is_neither_equivalent_nor_a_small_difference():
    """A slowdown by 2 % came out as 0.9 % while another program had the processor half of the time."""
    assert decide(replace(ratio(0.99, 1.01), disturbed=0.25), 0.5) is Verdict.EQUIVALENT
    assert decide(replace(ratio(0.99, 1.01), disturbed=0.3), 0.5) is Verdict.INCONCLUSIVE
    assert decide(replace(ratio(1.003, 1.015), disturbed=0.3), 0.001) is Verdict.INCONCLUSIVE
    assert decide(replace(ratio(1.005, 1.018), disturbed=0.3), 0.001) is Verdict.DIFFERENT
    assert decide(ratio(1.003, 1.015), 0.001) is Verdict.EQUIVALENT


@pytest.mark.parametrize(("estimate", "verdict"), [(1.0098, Verdict.INCONCLUSIVE), (1.0101, Verdict.DIFFERENT)])
def test_an_estimate_below_half_of_the_practical_threshold_is_not_different(estimate, verdict):
    """More pairs would show that it is equivalent: two identical cells once were 0.6 % apart with p = 0.0005."""
    assert decide(ratio(1.001, 1.021, estimate), 0.0001) is verdict
    assert decide(ratio(1 / 1.021, 1 / 1.001, 1 / estimate), 0.0001) is verdict
    assert decide(ratio(1.001, 1.051, estimate), 0.0001, practical=0.05) is Verdict.INCONCLUSIVE


def test_a_difference_has_the_direction_of_its_interval():
    """Later pairs may have moved the estimate to the other side."""
    assert decide(Ratio(Estimate(1.05, None, None, 20), 1e-6, (1.01, 1.1)), 1e-6) is Verdict.DIFFERENT
    assert decide(Ratio(Estimate(0.98, None, None, 20), 1e-6, (1.01, 1.1)), 1e-6) is Verdict.INCONCLUSIVE
    assert decide(Ratio(Estimate(1.05, None, None, 20), 1e-6, (0.99, 1.1)), 1e-6) is Verdict.INCONCLUSIVE


def test_the_interval_that_decides_is_not_the_one_that_is_shown():
    shown = Estimate(1.0, 0.99, 1.01, 10)
    assert decide(Ratio(shown, 1.0, (0.97, 1.03)), 1.0) is Verdict.INCONCLUSIVE


def test_too_few_pairs_give_no_verdict():
    assert decide(compare(np.full(7, 1.0)), 1e-9) is None
    assert decide(compare(np.full(8, 1.0)), 1e-9) is Verdict.DIFFERENT


@given(st.floats(0.5, 2.0), st.floats(1.0, 1.2), st.floats(0.0, 1.0), st.floats(0.0, 0.05))
def test_verdict_does_not_depend_on_which_cell_is_the_baseline(centre, width, p, floor):
    one = ratio(centre / width, centre * width, centre)
    other = ratio(1 / (centre * width), width / centre, 1 / centre)
    edges = [1.0 + floor, 1.02]
    bounds = [centre / width, centre, centre * width]
    if all(abs(np.log(bound)) - np.log(edge) for bound in bounds for edge in edges):
        near = min(abs(abs(np.log(bound)) - np.log(edge)) for bound in bounds for edge in edges)
        if near > 1e-9:
            assert decide(one, p, floor=floor) is decide(other, p, floor=floor)


def rates(effect: float, sd: float, n: int, trials: int = 400) -> dict[Verdict | None, float]:
    random = np.random.default_rng(11)
    found = []
    for _ in range(trials):
        values = random.normal(np.log1p(effect), sd, n)
        value = Estimate(float(np.exp(np.median(values))), None, None, n)
        found.append(decide(Ratio(value, 0.0, deciding_interval(values)), signed_rank_p(values)))
    return {verdict: found.count(verdict) / trials for verdict in Verdict}


@pytest.mark.parametrize("sd", [0.003, 0.02])
def test_equal_cells_are_called_different_no_more_often_than_alpha(sd):
    # At 1 % unadjusted, more than 11 of 400 happens once in a thousand such studies.
    assert rates(0.0, sd, 10)[Verdict.DIFFERENT] <= 11 / 400


def test_a_planted_slowdown_of_practical_size_is_found():
    # A rule that needs an estimate beyond 2 % found half of them.
    assert rates(0.02, 0.009, 12)[Verdict.DIFFERENT] >= 0.97


def test_a_slowdown_of_practical_size_is_rarely_called_equivalent():
    assert rates(0.02, 0.005, 10)[Verdict.EQUIVALENT] <= 0.02


def test_precise_equal_cells_are_called_equivalent():
    assert rates(0.0, 0.009, 10)[Verdict.EQUIVALENT] >= 0.97
