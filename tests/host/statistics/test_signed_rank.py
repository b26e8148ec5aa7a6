from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench.host.statistics.bootstrap import resample_counts
from bench.host.statistics.signed_rank import (
    averages_cut,
    doubled_ranks,
    exact_interval,
    hodges_lehmann,
    signed_rank_p,
    sum_distribution,
)

#: Coarse enough for ties and zeros to occur.
coarse = arrays(np.float64, st.integers(1, 9), elements=st.integers(-4, 4).map(float))
fine = arrays(
    np.float64, st.integers(1, 12), elements=st.floats(-1.0, 1.0).filter(lambda x: abs(x) > 1e-6), unique=True
)


def enumerated_p(differences) -> float:
    """Try every assignment of signs."""
    ranks = scipy.stats.rankdata(np.abs(differences))
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
    assert signed_rank_p(differences) == pytest.approx(scipy.stats.wilcoxon(differences, method="exact").pvalue)


@given(coarse)
def test_ranks_are_midranks(differences):
    assert doubled_ranks(differences.tolist()) == (2 * scipy.stats.rankdata(differences)).tolist()


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


@pytest.mark.parametrize("n", [1, 2, 5, 11])
def test_distribution_of_the_sum_has_the_moments_of_fair_signs(n):
    probability = sum_distribution(np.arange(1, n + 1))
    sums = np.arange(len(probability))
    assert probability.sum() == pytest.approx(1.0)
    assert probability @ sums == pytest.approx(n * (n + 1) / 4)
    variance = n * (n + 1) * (2 * n + 1) / 24
    assert probability @ (sums - probability @ sums) ** 2 == pytest.approx(variance)


@pytest.mark.parametrize(("n", "cut"), [(7, -1), (8, 0), (10, 3), (20, 37)])
def test_interval_leaves_out_what_the_tables_of_critical_values_say(n, cut):
    # Wilcoxon's tables: a sum of ranks of at most 0, 3 and 37 is significant at a two-sided 1 %.
    assert averages_cut(n, 0.99) == cut


@given(st.lists(st.integers(-1000, 1000), min_size=8, max_size=14, unique=True), st.integers(-1000, 1000))
def test_interval_holds_the_centres_that_the_test_accepts(numbers, whole):
    # No mean of two whole numbers lies a quarter above one, so that no difference is zero and none is tied.
    values, centre = np.array(numbers, dtype=float), whole + 0.25
    low, high = exact_interval(values, 0.99)
    assert (low < centre < high) is (signed_rank_p(values - centre) > 0.01)


def test_interval_of_few_values_is_their_range_and_of_fewer_there_is_none():
    values = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0])
    assert exact_interval(values, 0.99) == (-5.0, 9.0)
    assert exact_interval(values, 1 - 2**-7) == (-5.0, 9.0)
    assert exact_interval(values[:7], 0.99) is None


@pytest.mark.parametrize("n", [8, 14])
def test_interval_covers_the_centre_of_heavy_tails_with_its_level(n):
    random = np.random.default_rng(n)
    found = [exact_interval(random.standard_t(3, n), 0.9) for _ in range(1000)]
    # Binomial: 1000 trials at 90 % give 871 to 927 in 99.8 % of cases.
    assert 871 <= sum(low <= 0.0 <= high for low, high in found) <= 935
