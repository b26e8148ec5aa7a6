from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench.host.statistics.pairs import (
    Process,
    by_turn,
    compare,
    estimate_ratios,
    excludes_equality,
    pair_log_ratios,
    tail_log_ratios,
)

fine = arrays(
    np.float64, st.integers(1, 12), elements=st.floats(-1.0, 1.0).filter(lambda x: abs(x) > 1e-6), unique=True
)


def process(step_s, turn=None) -> Process:
    return by_turn(np.asarray(step_s, dtype=float), np.asarray(range(len(step_s)) if turn is None else turn))


@given(fine)
def test_swapping_the_cells_inverts_the_ratio_and_its_interval(log_ratios):
    one, other = compare(log_ratios), compare(-log_ratios)
    assert other.estimate.value == pytest.approx(1 / one.estimate.value)
    assert other.p == one.p
    if one.deciding is not None:
        assert other.deciding == pytest.approx((1 / one.deciding[1], 1 / one.deciding[0]))
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


def test_only_processes_of_the_same_round_are_pairs():
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
    # Medians over all turns would give a ratio far from one: one more turn of the baseline was in the slow minute.
    random = np.random.default_rng(1)
    speed = np.where(np.arange(41) < 20, 1.0, 1.5)
    cell, baseline = (process(speed * random.lognormal(0.0, 0.01, 41)) for _ in range(2))
    late = process(np.exp(baseline.log_s) * np.where(np.arange(41) == 20, 1 / 1.5, 1.0))
    assert abs(pair_log_ratios({0: cell}, {0: late})[1][0]) < 0.01
    assert abs(np.median(cell.log_s) - np.median(late.log_s)) > 0.3


def test_processes_without_a_common_turn_are_no_pair():
    assert pair_log_ratios({0: process([1.0], [0])}, {0: process([1.0], [1])})[0] == []


def test_planted_slowdown_is_found_where_the_machine_drifts():
    random = np.random.default_rng(5)
    drift = random.lognormal(0.0, 0.3, 10)
    baseline = {(r, 1): process(speed * random.lognormal(0.0, 0.01, 40)) for r, speed in enumerate(drift)}
    slower = {(r, 1): process(1.05 * speed * random.lognormal(0.0, 0.01, 40)) for r, speed in enumerate(drift)}
    found = compare(pair_log_ratios(slower, baseline)[1])
    assert found.estimate.low <= 1.05 <= found.estimate.high
    assert found.p < 0.01
    assert found.estimate.high - found.estimate.low < 0.02


def test_slower_tail_behind_equal_medians_is_found():
    random = np.random.default_rng(7)
    samples = random.lognormal(0.0, 0.01, (2, 10, 100))
    samples[0, :, 80:] *= 1.3
    cell, baseline = ({r: process(values) for r, values in enumerate(of)} for of in samples)
    assert compare(pair_log_ratios(cell, baseline)[1]).estimate.value == pytest.approx(1.0, abs=0.01)
    found = compare(tail_log_ratios(cell, baseline)[1])
    assert found.estimate.value == pytest.approx(1.3, rel=0.02)
    assert found.p < 0.01


@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30))
def test_tails_are_the_quantiles_of_numpy_over_common_turns(common, first, second):
    random = np.random.default_rng((common, first, second))
    turns = [np.r_[np.zeros(common, int), np.ones(first, int)], np.r_[np.full(second, 2), np.zeros(common, int)]]
    step_s = [random.lognormal(size=len(turn)) for turn in turns]
    pair = [process(values, turn) for values, turn in zip(step_s, turns, strict=True)]
    expected = [np.quantile(np.log(v[turn == 0]), 0.9) for v, turn in zip(step_s, turns, strict=True)]
    assert tail_log_ratios({0: pair[0]}, {0: pair[1]})[1] == pytest.approx([expected[0] - expected[1]])


def test_processes_without_a_common_turn_have_no_tail_ratio():
    assert tail_log_ratios({0: process([1.0], [0])}, {0: process([1.0], [1])})[0] == []


def test_deciding_interval_is_wider_than_the_one_that_is_shown():
    log_ratios = np.random.default_rng(2).normal(0.1, 0.02, 12)
    found = compare(log_ratios)
    assert found.deciding[0] < found.estimate.low < found.estimate.value < found.estimate.high < found.deciding[1]


def test_seven_pairs_have_no_deciding_interval():
    assert compare(np.arange(1.0, 8.0)).deciding is None
    assert compare(np.arange(1.0, 9.0)).deciding == pytest.approx((math.e, math.exp(8)))


def steady(values, steady_turn: int) -> Process:
    return by_turn(np.asarray(values, dtype=float), np.arange(len(values)), steady_turn)


def test_turns_before_both_were_steady_are_left_out_whichever_it_was():
    warming = steady([9.0, 9.0, 9.0, 9.0, 2.0, 2.0], 4)
    ready = steady([1.0] * 6, 0)
    for one, other, expected in ((warming, ready, 2.0), (ready, warming, 0.5)):
        assert pair_log_ratios({0: one}, {0: other})[1] == pytest.approx([math.log(expected)])
        assert tail_log_ratios({0: one}, {0: other})[1] == pytest.approx([math.log(expected)])


def test_all_common_turns_count_where_none_is_steady():
    assert pair_log_ratios({0: steady([2.0, 2.0], 9)}, {0: steady([1.0, 1.0], 0)})[1] == pytest.approx([math.log(2)])


@given(fine)
def test_an_interval_that_excludes_equality_among_many_does_so_alone(log_ratios):
    estimate = compare(log_ratios).estimate
    alone = estimate.low is not None and not estimate.low <= 1.0 <= estimate.high
    assert excludes_equality(estimate) == alone
    found = [excludes_equality(estimate, count) for count in (1, 2, 10, 1000)]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("pairs", [3, 7, 11])
def test_of_many_identical_cells_rarely_one_excludes_equality(pairs):
    """Of 35 intervals at 95 %, one excludes it in four of five tables."""
    random = np.random.default_rng(pairs)
    tables = [estimate_ratios(list(random.normal(0.0, 0.02, (35, pairs)))) for _ in range(100)]
    assert sum(any(excludes_equality(one, 35) for one in table) for table in tables) <= 10
    assert sum(any(excludes_equality(one) for one in table) for table in tables) >= 60
    far = estimate_ratios(list(random.normal(1.0, 0.02, (35, pairs))))
    assert all(excludes_equality(one, 35) for one in far)
