from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.host.statistics import change_points
from bench.host.statistics.change_points import SHORTEST, segments


def cost(points: np.ndarray, bounds: list[int], whole: np.ndarray) -> float:
    noise = max(1.4826 * np.median(np.abs(np.diff(whole))) / 2**0.5, change_points.LEAST_SD)
    total = 0.0
    for start, end in itertools.pairwise([0, *bounds]):
        piece = points[start:end]
        spread = (piece.var() * len(piece) + change_points.PRIOR * noise**2) / (len(piece) + change_points.PRIOR)
        total += len(piece) * np.log(spread) + change_points.PENALTY * np.log(len(points))
    return float(total)


def best_by_trial(points: np.ndarray) -> float:
    n, best = len(points), np.inf
    for count in range(n // SHORTEST):
        for inner in itertools.combinations(range(SHORTEST, n - SHORTEST + 1), count):
            bounds = [*inner, n]
            if min(np.diff([0, *bounds])) >= SHORTEST:
                best = min(best, cost(points, bounds, points))
    return best


@given(st.lists(st.integers(-20, 20), min_size=SHORTEST, max_size=12))
@settings(max_examples=50)
def test_no_other_segmentation_is_better(values):
    points = np.array(values) / 100.0
    found = segments(points[np.newaxis])[0]
    assert found[-1] == len(points)
    assert min(np.diff([0, *found])) >= SHORTEST
    assert cost(points, found, points) == pytest.approx(best_by_trial(points))


@pytest.mark.parametrize("change", [5, 30, 55])
def test_a_planted_change_of_the_mean_is_placed(change):
    points = np.random.default_rng(1).normal(0.0, 0.01, 60)
    points[change:] += 0.1
    assert segments(points[np.newaxis]) == [[change, 60]]


def test_a_planted_change_of_the_spread_alone_is_placed():
    points = np.random.default_rng(2).normal(0.0, 0.01, 80)
    points[40:] *= 8
    found = segments(points[np.newaxis])[0]
    assert len(found) == 2
    assert abs(found[0] - 40) <= 2


def test_noise_has_no_change_points():
    points = np.random.default_rng(3).normal(0.0, 0.03, (200, 96))
    assert sum(len(found) > 1 for found in segments(points)) <= 6


def test_rows_do_not_change_each_other(monkeypatch):
    points = np.random.default_rng(4).normal(0.0, 0.01, (7, 50))
    points[::2, 20:] += 0.2
    together = segments(points)
    monkeypatch.setattr(change_points, "BATCH", 2)
    assert segments(points) == together == [segments(row[np.newaxis])[0] for row in points]
