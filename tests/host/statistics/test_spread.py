from __future__ import annotations

import numpy as np
import pytest

from bench.host.statistics.location import locate
from bench.host.statistics.spread import Spread, judge

STEADY = [1.0, 1.01, 0.99, 1.02, 1.0]


@pytest.mark.parametrize(
    ("processes", "found"),
    [
        ([STEADY, STEADY], Spread(2, 0, 0, 1.0)),
        ([STEADY, [1.0, 1.0, 1.6, 1.6, 1.0, 1.6]], Spread(2, 1, 0, pytest.approx(1.3))),
        # Threads spin on a shared core in eight samples of ten: the quartiles agree and do not show it.
        ([[15.95] * 8 + [0.11] * 2], Spread(1, 0, 1, 1.0)),
        ([STEADY, [2.1] * 5], Spread(2, 0, 0, pytest.approx(2.1))),
        ([[1.0, 5.0, 9.0]], Spread(1, 0, 0, 1.0)),
        ([], Spread(0, 0, 0, 1.0)),
    ],
    ids=["steady", "wide", "mostly disturbed", "processes apart", "too few samples", "nothing timed"],
)
def test_samples_and_processes_that_are_apart_are_found(processes, found):
    assert judge([locate(np.array(samples)) for samples in processes]) == found


@pytest.mark.parametrize(
    ("processes", "large"),
    [([STEADY], False), ([[1.0, 1.0, 1.6, 1.6]], True), ([[15.95] * 8 + [0.11] * 2], True), ([[1.0], [2.1]], True)],
)
def test_any_of_them_makes_the_spread_large(processes, large):
    assert judge([locate(np.array(samples)) for samples in processes]).is_large is large


def test_one_late_sample_makes_no_large_spread():
    assert not judge([locate(np.array([*STEADY, 900.0]))]).is_large
