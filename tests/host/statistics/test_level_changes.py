"""Tests changes of level in series of runs: planted ones are found and placed, and none where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench.host.statistics.level_changes import MOST_PLACES, level_changes, places, without_single_outliers
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
