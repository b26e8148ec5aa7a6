from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.host.statistics.noise import flipped_estimates, noise_floor
from bench.host.statistics.signed_rank import walsh_averages


def twins(sd: float, rows: int = 6, pairs: int = 10, seed: int = 1) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).normal(0.0, sd, (rows, pairs)))


@pytest.mark.parametrize(("rows", "pairs"), [(1, 8), (1, 20), (6, 10), (15, 20)])
def test_floor_is_the_quantile_of_differences_between_identical_cells(rows, pairs):
    random = np.random.default_rng(0)
    estimates = np.median(walsh_averages(random.normal(0.0, 0.01, (20_000, pairs))), axis=-1)
    true = np.quantile(np.abs(estimates), 0.99)
    found = np.array([noise_floor(twins(0.01, rows, pairs, seed)).value for seed in range(20)])
    assert np.log1p(found).mean() == pytest.approx(true, rel=0.15)


def test_differences_between_identical_cells_rarely_exceed_the_floor():
    random = np.random.default_rng(5)
    estimates = np.abs(np.expm1(np.median(walsh_averages(random.normal(0.0, 0.01, (5000, 10))), axis=-1)))
    floors = [noise_floor(twins(0.01, 10, 10, seed)).value for seed in range(15)]
    assert np.mean([np.mean(estimates > floor) for floor in floors]) == pytest.approx(0.01, abs=0.008)


def test_floor_reports_its_rows_and_pairs():
    found = noise_floor([*twins(0.01, 2, 8), *twins(0.01, 3, 12), np.zeros(7)])
    assert (found.comparisons, found.fewest_pairs, found.most_pairs) == (5, 8, 12)


@pytest.mark.parametrize("few", [[], [np.zeros(7)], [np.array([])]])
def test_without_enough_pairs_there_is_no_floor(few):
    assert noise_floor(few) is None


def test_one_bad_pair_in_every_row_hardly_moves_the_floor():
    bad = [np.concatenate([row[:-1], [0.7]]) for row in twins(0.01)]
    assert noise_floor(bad).value < 2.0 * noise_floor(twins(0.01)).value


def test_a_twin_that_differed_throughout_raises_the_floor():
    # Among many rows the sign flips of one hardly count, but its own estimate does.
    quiet = twins(0.001, 60)
    found = noise_floor([quiet[0] + 0.03, *quiet[1:]])
    assert found.value == found.observed == pytest.approx(0.03, rel=0.1)
    assert found.expected < 0.02
    assert noise_floor(quiet).value < 0.002


@given(st.integers(8, 15))
def test_which_of_the_two_is_the_twin_does_not_matter(pairs):
    rows = twins(0.01, 2, pairs)
    assert noise_floor([-row for row in rows]) == noise_floor(rows)


def test_flips_are_symmetric_and_as_wide_as_chance():
    found = flipped_estimates(np.random.default_rng(2).normal(0.0, 0.02, 40))
    assert abs(found.mean()) < 0.001
    assert found.std() == pytest.approx(0.02 / 40**0.5, rel=0.25)
