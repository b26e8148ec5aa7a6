from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from bench.host.statistics.bootstrap import resample_counts
from bench.host.statistics.pairs import (
    Process,
    by_turn,
    compare,
    doubled_ranks,
    hodges_lehmann,
    pair_log_ratios,
    signed_rank_p,
)

#: Coarse enough for ties and zeros to occur.
coarse = arrays(np.float64, st.integers(1, 9), elements=st.integers(-4, 4).map(float))
fine = arrays(
    np.float64, st.integers(1, 12), elements=st.floats(-1.0, 1.0).filter(lambda x: abs(x) > 1e-6), unique=True
)


def process(step_s, turn=None) -> Process:
    return by_turn(np.asarray(step_s, dtype=float), np.asarray(range(len(step_s)) if turn is None else turn))


def enumerated_p(differences) -> float:
    """Try every assignment of signs."""
    ranks = stats.rankdata(np.abs(differences))
    ranks, signs = ranks[differences != 0], np.sign(differences[differences != 0])
    observed = abs(float((ranks * signs).sum()))
    sums = [abs(float(np.dot(ranks, flips))) for flips in itertools.product((-1, 1), repeat=len(ranks))]
    return sum(s >= observed - 1e-9 for s in sums) / len(sums)


@given(coarse)
@settings(max_examples=200)
def test_p_value_is_exact_with_ties_and_zeros(differences):
    assert signed_rank_p(differences) == pytest.approx(enumerated_p(differences))


@given(fine.filter(lambda x: len(np.unique(np.abs(x))) == len(x)))
def test_p_value_agrees_with_scipy_where_scipy_is_exact(differences):
    assert signed_rank_p(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


@given(coarse)
def test_ranks_are_midranks(differences):
    assert doubled_ranks(differences).tolist() == (2 * stats.rankdata(differences)).tolist()


def test_smallest_p_value_of_eight_pairs_is_below_one_percent():
    assert signed_rank_p(np.arange(1.0, 8.0)) == 2 / 2**7
    assert signed_rank_p(np.arange(1.0, 9.0)) == 2 / 2**8 < 0.01


def test_a_hundred_pairs_are_no_more_work_than_ten():
    assert signed_rank_p(np.random.default_rng(0).normal(1.0, 0.1, 100)) == pytest.approx(0.5**99)


@given(arrays(np.float64, st.integers(1, 9), elements=st.floats(-1.0, 1.0)))
def test_hodges_lehmann_is_the_median_of_walsh_averages(values):
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(values, 2)]
    assert hodges_lehmann(values, np.ones((len(values), 1), np.int32))[0] == pytest.approx(np.median(means))


@given(arrays(np.float64, st.integers(2, 9), elements=st.floats(-1.0, 1.0)))
def test_hodges_lehmann_of_a_resample_is_that_of_its_values(values):
    counts = resample_counts(len(values), 10)
    alone = np.ones((len(values), 1), np.int32)
    expected = [hodges_lehmann(np.repeat(values, column), alone)[0] for column in counts.T]
    assert hodges_lehmann(values, counts) == pytest.approx(expected)


@given(fine)
def test_swapping_the_cells_inverts_the_ratio_and_its_interval(log_ratios):
    one, other = compare(log_ratios), compare(-log_ratios)
    assert other.estimate.value == pytest.approx(1 / one.estimate.value)
    assert other.p == one.p
    if len(log_ratios) > 1:
        assert (other.estimate.low, other.estimate.high) == pytest.approx((1 / one.estimate.high, 1 / one.estimate.low))


@given(st.floats(0.001, 1000.0))
def test_ratio_does_not_depend_on_the_unit(unit):
    random = np.random.default_rng(3)
    cells = [{(r, 1): process(random.lognormal(size=9)) for r in range(5)} for _ in range(2)]
    scaled = [{key: process(np.exp(one.log_s) * unit, one.turns) for key, one in cell.items()} for cell in cells]
    assert pair_log_ratios(*scaled)[1] == pytest.approx(pair_log_ratios(*cells)[1])


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0.1, 10.0)), min_size=1, max_size=20))
def test_a_process_has_the_median_of_each_of_its_turns(samples):
    turn, step_s = (np.array(part) for part in zip(*samples, strict=True))
    found = by_turn(step_s, turn)
    assert found.turns.tolist() == sorted(set(turn.tolist()))
    expected = [np.median(np.log(step_s[turn == number])) for number in found.turns]
    assert found.log_s == pytest.approx(expected)


def test_only_processes_that_lived_together_are_pairs():
    cell = {(0, 1): process([2.0]), (1, 2): process([9.0]), (2, 1): process([4.0])}
    baseline = {(0, 1): process([1.0]), (1, 1): process([1.0]), (2, 1): process([1.0])}
    keys, ratios = pair_log_ratios(cell, baseline)
    assert keys == [(0, 1), (2, 1)]
    assert ratios == pytest.approx([math.log(2), math.log(4)])


def test_only_turns_that_both_took_are_compared():
    # The machine was slow in turn 2, in which the baseline had already been stopped.
    cell = {(0, 1): process([2.0, 2.0, 2.0, 90.0, 90.0, 90.0, 90.0], [0, 0, 1, 2, 2, 2, 2])}
    baseline = {(0, 1): process([1.0, 1.0, 1.0], [0, 1, 1])}
    assert pair_log_ratios(cell, baseline)[1] == pytest.approx([math.log(2)])


def test_a_slow_minute_in_half_of_the_turns_cancels():
    # Medians over all turns would see a ratio far from one: the slow minute caught one more turn of the baseline.
    random = np.random.default_rng(1)
    mood = np.where(np.arange(41) < 20, 1.0, 1.5)
    cell, baseline = (process(mood * random.lognormal(0.0, 0.01, 41)) for _ in range(2))
    late = process(np.exp(baseline.log_s) * np.where(np.arange(41) == 20, 1 / 1.5, 1.0))
    assert abs(pair_log_ratios({0: cell}, {0: late})[1][0]) < 0.01
    assert abs(np.median(cell.log_s) - np.median(late.log_s)) > 0.3


def test_processes_without_a_common_turn_are_no_pair():
    assert pair_log_ratios({0: process([1.0], [0])}, {0: process([1.0], [1])})[0] == []


def test_planted_slowdown_is_found_where_the_machine_drifts():
    random = np.random.default_rng(5)
    moods = random.lognormal(0.0, 0.3, 10)
    baseline = {(r, 1): process(mood * random.lognormal(0.0, 0.01, 40)) for r, mood in enumerate(moods)}
    slower = {(r, 1): process(1.05 * mood * random.lognormal(0.0, 0.01, 40)) for r, mood in enumerate(moods)}
    found = compare(pair_log_ratios(slower, baseline)[1])
    assert found.estimate.low <= 1.05 <= found.estimate.high
    assert found.p < 0.01
    assert found.estimate.high - found.estimate.low < 0.02
