from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench.host.statistics.bootstrap import (
    attainable_level,
    distinct_resamples,
    estimate,
    estimate_each,
    estimate_median,
    median,
    resample_counts,
    tail_probability,
    weighted_median,
)
from bench.host.statistics.signed_rank import hodges_lehmann

values = arrays(np.float64, st.integers(2, 12), elements=st.floats(0.01, 100.0))


@given(values, st.data())
def test_weighted_median_is_the_median_of_repeated_points(points, data):
    chosen = data.draw(st.lists(st.integers(0, len(points) - 1), min_size=1, max_size=9))
    weights = np.bincount(chosen, minlength=len(points)).astype(np.int32)[:, np.newaxis]
    found = weighted_median(points, lambda i: weights[i], len(chosen))
    assert found.tolist() == [np.median(points[chosen])]


@given(values)
def test_median_of_a_resample_is_that_of_its_values(points):
    counts = resample_counts(len(points), 20)
    assert median(points, counts).tolist() == [np.median(np.repeat(points, column)) for column in counts.T]


@given(values)
def test_estimate_is_the_median_and_lies_in_its_interval(locations):
    found = estimate_median(locations)
    assert found.value == pytest.approx(np.median(locations))
    assert found.low <= found.value <= found.high
    if len(locations) >= 6:
        assert locations.min() <= found.low <= found.high <= locations.max()
    assert found.n == len(locations)


@given(values, st.floats(0.001, 1000.0))
def test_interval_scales_with_the_unit(locations, unit):
    one, other = estimate_median(locations), estimate_median(locations * unit)
    assert (other.value, other.low, other.high) == pytest.approx((one.value * unit, one.low * unit, one.high * unit))


def test_one_process_gives_no_interval():
    found = estimate_median(np.array([3.0]))
    assert (found.value, found.low, found.high, found.n) == (3.0, None, None, 1)


def test_same_seed_gives_the_same_interval_and_another_seed_another():
    locations = np.random.default_rng(0).lognormal(size=15)
    assert estimate(locations, hodges_lehmann) == estimate(locations, hodges_lehmann)
    assert estimate(locations, hodges_lehmann, seed=1) != estimate(locations, hodges_lehmann, seed=2)


def test_interval_widens_with_its_level():
    locations = np.random.default_rng(0).lognormal(size=15)
    narrow, wide = (estimate(locations, median, level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_every_resample_takes_as_many_units_as_there_are():
    counts = resample_counts(7)
    assert (counts.sum(axis=0) == 7).all()
    assert counts.mean(axis=1) == pytest.approx(np.ones(7), abs=0.1)


def test_tails_are_narrower_for_few_units_and_those_of_the_level_for_many():
    assert tail_probability(3) < tail_probability(8) < tail_probability(30) < 0.025
    assert tail_probability(100_000) == pytest.approx(0.025, rel=1e-3)


def coverage(n: int, draw, statistic=None, trials: int = 400) -> float:
    random = np.random.default_rng(n)
    hits = 0
    for _ in range(trials):
        sample = draw(random, n)
        found = estimate_median(sample) if statistic is None else estimate(sample, statistic)
        hits += found.low <= 1.0 <= found.high
    return hits / trials


# 400 trials: a true coverage of 95 % is seen within 3.5 percentage points with a probability of 99.9 %.
TOLERANCE = 0.035


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 10, 20])
def test_interval_of_a_median_covers_it_in_95_percent_of_skewed_studies(n):
    assert coverage(n, lambda random, n: random.lognormal(0.0, 0.5, n)) >= 0.95 - TOLERANCE


@pytest.mark.parametrize("n", [8, 15])
def test_interval_of_hodges_lehmann_covers_the_centre_in_95_percent_of_studies(n):
    assert coverage(n, lambda random, n: random.normal(1.0, 0.02, n), hodges_lehmann) >= 0.95 - TOLERANCE


@pytest.mark.parametrize("n", [2, 3, 4])
def test_range_of_few_units_would_cover_it_less_often(n):
    assert attainable_level(n) < 0.95
    found = coverage(n, lambda random, n: random.normal(1.0, 0.02, n), hodges_lehmann)
    assert found == pytest.approx(attainable_level(n), abs=0.075)


def test_few_units_far_apart_have_a_wide_interval_and_no_infinite_one():
    found = estimate_median(np.array([1e-3, 1e3]))
    assert (found.low, found.high) == pytest.approx((1e-6, 1e6))


@pytest.mark.parametrize("statistic", [median, hodges_lehmann])
def test_cells_estimated_together_have_the_very_estimates_of_each_alone(statistic):
    random = np.random.default_rng(5)
    # Few units and many, more cells of one number than are computed together, and ties.
    sizes = [*range(1, 12), *[4] * 300]
    cells = [np.round(random.lognormal(size=n), 1 + n % 3) for n in sizes]
    assert estimate_each(cells, statistic) == [estimate(values, statistic) for values in cells]


@pytest.mark.parametrize("n", [2, 4, 6])
def test_resamples_that_differ_are_all_resamples_each_once(n):
    counts, which = distinct_resamples(n)
    assert (counts[:, which] == resample_counts(n)).all()
    assert counts.shape[1] == len({tuple(column) for column in resample_counts(n).T.tolist()}) < 500
