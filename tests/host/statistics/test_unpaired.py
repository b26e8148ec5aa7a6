"""Tests the comparison of processes that did not take turns: coverage, outliers, few processes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy

from bench.host.statistics.unpaired import FEWEST, compare_unpaired

TRIALS = 2000


def shares(sizes, spreads, draw, seed=1):
    """Return how often the two intervals cover the ratio, and how often the test finds a difference at 1 %."""
    random = np.random.default_rng(seed)
    covered = decided = alarms = 0
    for _ in range(TRIALS):
        cell, other = (spread * draw(random, size) for size, spread in zip(sizes, spreads, strict=True))
        found = compare_unpaired(cell + 0.3, other)
        estimate, deciding = found.estimate, found.deciding
        covered += estimate.low <= math.exp(0.3) <= estimate.high
        decided += deciding is not None and deciding[0] <= math.exp(0.3) <= deciding[1]
        alarms += compare_unpaired(cell, other).p <= 0.01
    return covered / TRIALS, decided / TRIALS, alarms / TRIALS


@pytest.mark.parametrize(
    ("sizes", "spreads"), [((10, 10), (0.02, 0.02)), ((5, 20), (0.05, 0.01)), ((5, 5), (0.02, 0.06))]
)
def test_the_intervals_cover_and_the_test_keeps_its_level(sizes, spreads):
    covered, decided, alarms = shares(sizes, spreads, lambda random, n: random.standard_normal(n))
    assert covered >= 0.935
    assert decided >= 0.98
    assert alarms <= 0.02


def test_heavy_tails_do_not_break_the_intervals():
    covered, decided, alarms = shares((10, 10), (0.02, 0.02), lambda random, n: random.standard_t(3, n))
    assert covered >= 0.935
    assert decided >= 0.98
    assert alarms <= 0.02


def test_few_processes_give_welchs_interval():
    cell, other = np.log([1.0, 1.1, 1.05]), np.log([2.0, 2.3])
    found = compare_unpaired(cell, other)
    expected = scipy.stats.ttest_ind(cell, other, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval(0.95)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))


def test_many_processes_give_yuens_interval():
    random = np.random.default_rng(2)
    cell, other = random.normal(0.1, 0.02, 10), random.normal(0.0, 0.03, 15)
    assert compare_unpaired(cell, other).p == pytest.approx(
        scipy.stats.ttest_ind(cell, other, equal_var=False, trim=0.2).pvalue
    )


def test_one_bad_process_does_not_decide():
    random = np.random.default_rng(3)
    cell, other = random.normal(0.0, 0.01, 10), random.normal(0.0, 0.01, 10)
    cell[4] = math.log(10.0)
    assert compare_unpaired(cell, other).estimate.value == pytest.approx(1.0, abs=0.02)


def test_a_verdict_needs_processes_on_both_sides():
    random = np.random.default_rng(4)
    few, many = random.normal(0.0, 0.01, FEWEST - 1), random.normal(0.0, 0.01, 20)
    assert compare_unpaired(few, many).deciding is None
    assert compare_unpaired(many, many[:FEWEST]).deciding is not None
    assert compare_unpaired(many, np.empty(0)) is None
    assert compare_unpaired(many, many[:1]).estimate.low is None


def test_equal_processes_have_a_finite_interval():
    found = compare_unpaired(np.zeros(6), np.zeros(6))
    assert found.estimate.low <= 1.0 <= found.estimate.high
    assert found.p == 1.0
