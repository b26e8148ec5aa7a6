from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench.host.statistics.location import locate, median, spread_between

times = arrays(np.float64, st.integers(1, 60), elements=st.floats(1e-9, 1e3))


@given(times)
def test_quantiles_are_those_of_numpy(samples):
    found = locate(samples)
    expected = np.quantile(samples, (0.1, 0.25, 0.5, 0.75, 0.9))
    assert (found.q10, found.q25, found.median, found.q75, found.p90) == pytest.approx(expected.tolist(), rel=1e-12)


@given(times, st.floats(1e-3, 1e3))
def test_location_scales_with_the_unit(samples, unit):
    assert locate(samples * unit).median == pytest.approx(locate(samples).median * unit, rel=1e-12)
    assert locate(samples * unit).spread == pytest.approx(locate(samples).spread, rel=1e-6, abs=1e-9)


def test_order_of_samples_does_not_matter():
    assert locate(np.array([3.0, 1.0, 2.0])) == locate(np.array([1.0, 2.0, 3.0]))


def test_one_late_sample_does_not_move_the_median():
    assert locate(np.array([1.0, 1.0, 1.0, 1.0, 900.0])).median == 1.0


@pytest.mark.parametrize("samples", [[], [0.0, 0.0], [-1.0], [float("nan")]])
def test_what_cannot_be_a_time_is_refused(samples):
    with pytest.raises(ValueError, match="process"):
        locate(np.array(samples))


def test_spread_between_estimates_the_standard_deviation_of_normal_processes():
    processes = np.random.default_rng(1).normal(1.0, 0.03, 20_000)
    assert spread_between(processes) == pytest.approx(0.03, rel=0.03)


def test_one_process_says_nothing_about_the_spread_between():
    assert spread_between(np.array([1.0])) is None


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-100.0, 100.0)))
def test_median_is_that_of_numpy(values):
    assert median(values) == np.median(values)
