"""Tests changes of level in series of runs: planted ones are found and placed, and none where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.host.statistics.level_changes import (
    MOST_PLACES,
    inflation,
    level_changes,
    places,
    without_single_outliers,
)
from bench.host.statistics.verdict import Verdict, adjust_for_discovery, decide


def found_in(series):
    """Return (row, change) of all changes that a verdict calls different."""
    changes = [(row, change) for row, found in enumerate(level_changes(series)) for change in found]
    if not changes:
        return []
    adjusted = adjust_for_discovery(np.array([change.ratio.p for _, change in changes]))
    return [
        one for one, p in zip(changes, adjusted.tolist(), strict=True) if decide(one[1].ratio, p) is Verdict.DIFFERENT
    ]


@pytest.mark.parametrize("runs", [12, 60, 400])
def test_nothing_is_found_where_nothing_changed(runs):
    random = np.random.default_rng(1)
    assert found_in(random.normal(0.0, 0.02, (200, runs))) == []
    # Nor with heavy tails: bad nights.
    assert found_in(0.02 * random.standard_t(3, (200, runs))) == []


@pytest.mark.parametrize(("runs", "at"), [(40, 30), (300, 290), (1000, 200), (2000, 1985)])
def test_a_slowdown_of_five_percent_is_found_where_it_is(runs, at):
    random = np.random.default_rng(2)
    series = random.normal(0.0, 0.015, (20, runs))
    series[:, at:] += math.log(1.05)
    found = found_in(series)
    assert sorted(row for row, _ in found) == list(range(20))
    # The range is of 99 %.
    assert sum(change.first <= at <= change.last for _, change in found) >= 19
    assert sum(abs(change.at - at) <= 2 for _, change in found) >= 18
    assert sum(change.ratio.deciding[0] <= 1.05 <= change.ratio.deciding[1] for _, change in found) >= 19


def test_two_changes_are_two():
    random = np.random.default_rng(3)
    series = random.normal(0.0, 0.01, (1, 90))
    series[:, 30:] += 0.1
    series[:, 60:] -= 0.1
    found = found_in(series)
    assert [change.at for _, change in found] == [30, 60]
    assert [change.ratio.estimate.value > 1.0 for _, change in found] == [True, False]


def test_one_bad_night_is_no_change():
    series = np.random.default_rng(4).normal(0.0, 0.01, (1, 50))
    series[0, 20] += 1.0
    assert found_in(series) == []
    assert abs(without_single_outliers(series)[0, 20]) < 0.1


def test_three_runs_are_the_shortest_level_and_get_no_verdict():
    series = np.random.default_rng(5).normal(0.0, 0.005, (1, 40))
    series[0, 37:] += 0.2
    (change,) = level_changes(series)[0]
    assert (change.at, change.after) == (37, 3)
    assert change.ratio.deciding is None
    assert change.ratio.estimate.low > 1.0


def test_few_runs_have_no_changes():
    assert level_changes(np.zeros((3, 5))) == [[], [], []]
    assert level_changes(np.zeros((0, 50))) == []
    assert level_changes(np.zeros((1, 50))) == [[]]


def test_a_long_series_has_few_places_and_all_of_the_newest():
    found = places(2000)
    assert len(found) <= MOST_PLACES
    assert set(range(1937, 2001)) <= set(found.tolist())
    assert (np.diff(found) > 0).all()


def drifting(random, rows, runs, correlation, deviation=0.02):
    """Return rows of noise in which every run keeps a share of the error of the run before."""
    noise = random.normal(0.0, deviation, (rows, runs))
    for run in range(1, runs):
        noise[:, run] = correlation * noise[:, run - 1] + math.sqrt(1.0 - correlation**2) * noise[:, run]
    return noise


@pytest.mark.parametrize("correlation", [0.7, 0.9])
def test_a_drift_for_days_is_seldom_a_change_of_level(correlation):
    """With a penalty that does not depend on the correlation, 27 and 97 of these 100 rows had one."""
    series = drifting(np.random.default_rng(11), 100, 365, correlation)
    assert len({row for row, _ in found_in(series)}) <= 5


def test_a_clear_slowdown_is_found_in_a_drift():
    series = drifting(np.random.default_rng(12), 20, 80, 0.5)
    series[7, 60:] += math.log(1.15)
    found = dict(found_in(series))
    assert abs(found[7].at - 60) <= 2
    assert len(found) <= 2


@pytest.mark.parametrize(("correlation", "expected"), [(0.0, 1.0), (0.3, 1.3 / 0.7), (0.5, 3.0), (0.7, 1.7 / 0.3)])
def test_inflation_is_that_of_the_planted_correlation(correlation, expected):
    random = np.random.default_rng(13)
    series = drifting(random, 50, 200, correlation)
    assert inflation(series) == pytest.approx(expected, rel=0.15)
    # A change of level adds little.
    series[:, 100:] += 0.1
    assert inflation(series) == pytest.approx(expected, rel=0.3)


def test_slow_nights_and_equal_times_are_no_drift():
    random = np.random.default_rng(14)
    assert inflation(random.normal(0.0, 0.02, (50, 200)) + 0.08 * (random.random((50, 200)) < 0.1)) < 1.1
    assert inflation(np.zeros((3, 10))) == 1.0


@pytest.mark.parametrize(("runs", "at"), [(12, 7), (30, 20)])
def test_few_runs_of_one_cell_show_no_drift_that_could_hide_a_clear_change(runs, at):
    random = np.random.default_rng(15)
    found = 0
    for _ in range(50):
        series = random.normal(0.0, 0.02, (1, runs))
        series[:, at:] += math.log(1.25)
        found += any(abs(change.at - at) <= 1 for _, change in found_in(series))
    assert found >= 48
