from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.host.statistics.warmup import (
    FEWEST,
    HEAD,
    POINTS,
    Warmup,
    WarmupClass,
    classify,
    reduced,
    steady_from,
    steady_turn,
    without_outliers,
)


def series(*levels: tuple[int, float], sd: float = 0.02, seed: int = 0) -> np.ndarray:
    """Return step times with log-normal noise, the given number of points at each level."""
    means = np.concatenate([np.full(count, level) for count, level in levels])
    return means * np.random.default_rng(seed).lognormal(0.0, sd, len(means))


def kind(one: np.ndarray) -> WarmupClass:
    return classify([one])[0].kind


@pytest.mark.parametrize("size", [1, 4, 20])
@pytest.mark.parametrize(
    ("levels", "expected", "start"),
    [
        ([(30, 1.0)], WarmupClass.FLAT, 0),
        ([(8, 1.3), (22, 1.0)], WarmupClass.WARM_UP, 8),
        ([(4, 3.0), (6, 1.2), (20, 1.0)], WarmupClass.WARM_UP, 10),
        ([(10, 1.0), (20, 1.2)], WarmupClass.SLOWDOWN, 10),
        ([(5, 1.5), (10, 1.0), (15, 1.2)], WarmupClass.SLOWDOWN, 15),
        ([(26, 1.0), (4, 1.3)], WarmupClass.NO_STEADY_STATE, None),
    ],
)
def test_planted_courses_are_recognised_at_any_length(levels, expected, start, size):
    found = classify([series(*((count * size, level) for count, level in levels))])[0]
    assert found.kind is expected
    if start is None:
        assert found.start is None
    else:
        # In a long series a change is placed to within a block.
        block = -(-(30 * size - HEAD) // (POINTS - HEAD))
        assert found.start == pytest.approx(start * size, abs=max(1, block))


# In one of a thousand such series chance makes a step, so the examples are always the same.
@settings(derandomize=True)
@given(st.sampled_from([0.01, 0.002, 0.0]), st.integers(16, 300), st.integers(0, 1000))
def test_a_doubled_start_is_a_warm_up_whatever_the_noise(sd, length, seed):
    head = max(4, length // 3)
    found = classify([series((head, 2.0), (length - head, 1.0), sd=sd, seed=seed)])[0]
    assert found.kind is WarmupClass.WARM_UP
    assert abs(found.start - head) <= max(2, length // 60)


def test_much_noise_hardly_ever_hides_a_doubled_start():
    found = classify([series((10, 2.0), (20, 1.0), sd=0.05, seed=seed) for seed in range(300)])
    assert sum(one.kind is WarmupClass.WARM_UP and abs(one.start - 10) <= 2 for one in found) >= 295


@given(st.floats(1e-9, 1e3), st.integers(0, 100))
def test_class_does_not_depend_on_the_unit(unit, seed):
    one = series((10, 1.1), (30, 1.0), seed=seed)
    assert classify([one * unit]) == classify([one])


@pytest.mark.parametrize("length", [20, 60, 600])
def test_noise_alone_is_flat(length):
    found = classify([series((length, 1.0), sd=0.03, seed=seed) for seed in range(300)])
    # At most one in a hundred: more than 9 of 300 happens once in a thousand times.
    assert sum(one.kind is not WarmupClass.FLAT for one in found) <= 9


def test_late_samples_are_no_change():
    late = series((60, 1.0))
    late[[3, 17, 18, 40, 59]] *= 5
    assert kind(late) is WarmupClass.FLAT


def test_late_samples_do_not_hide_a_warm_up():
    late = series((15, 1.1), (45, 1.0))
    late[[20, 33, 34, 57]] *= 5
    assert kind(late) is WarmupClass.WARM_UP


def test_less_than_one_percent_is_no_warm_up():
    assert kind(series((20, 1.008), (40, 1.0), sd=0.0005)) is WarmupClass.FLAT
    assert kind(series((20, 1.02), (40, 1.0), sd=0.0005)) is WarmupClass.WARM_UP


def test_few_points_are_too_short():
    assert kind(series((FEWEST - 1, 1.0))) is WarmupClass.TOO_SHORT
    assert kind(series((FEWEST, 1.0))) is WarmupClass.FLAT
    assert kind(np.array([])) is WarmupClass.TOO_SHORT


def test_constant_times_are_flat():
    assert kind(np.ones(30)) is WarmupClass.FLAT


def test_series_of_different_lengths_do_not_change_each_other():
    ragged = [series((n // 3, 1.4), (n - n // 3, 1.0), seed=n) for n in (5, 18, 40, 97, 250, 1000)]
    assert classify(ragged) == [classify([one])[0] for one in ragged]
    assert classify([]) == []


@given(st.integers(1, 2000))
def test_a_series_is_reduced_to_points_that_begin_where_they_say(length):
    (points,), starts = reduced(np.arange(length)[np.newaxis] / length)
    assert len(points) <= POINTS + 1
    assert (starts[0], starts[-1], len(starts)) == (0, length, len(points) + 1)
    medians = [np.median(np.arange(a, b)) / length for a, b in itertools.pairwise(starts)]
    assert points == pytest.approx(medians, abs=1e-9)


def test_outliers_take_the_level_of_their_neighbours_and_steps_stay():
    points = np.random.default_rng(1).normal(0.0, 0.01, 40)
    points[20:] += 1.0
    spiked = points.copy()
    spiked[[5, 30]] += 3.0
    cleaned = without_outliers(spiked[np.newaxis])[0]
    assert np.abs(cleaned - points).max() < 0.1
    assert cleaned[19] < 0.1 < 0.9 < cleaned[20]


@pytest.mark.parametrize(
    ("found", "first", "turn"),
    [
        (Warmup(WarmupClass.FLAT, 0), 0, 0),
        (Warmup(WarmupClass.TOO_SHORT, None), 0, 0),
        (Warmup(WarmupClass.NO_STEADY_STATE, None), 0, 0),
        (Warmup(WarmupClass.WARM_UP, 8), 0, 0),
        (Warmup(WarmupClass.WARM_UP, 12), 2, 1),
        (Warmup(WarmupClass.WARM_UP, 13), 3, 2),
        (Warmup(WarmupClass.SLOWDOWN, 13), 3, 2),
    ],
)
def test_steady_state_begins_with_a_whole_turn_after_the_trials(found, first, turn):
    assert steady_from(found, 10) == first
    assert steady_turn(found, 10, np.array([0, 0, 1, 1, 2, 2, 3, 3])) == turn


def test_leaving_out_does_not_favour_fast_processes_on_a_machine_that_drifts():
    random = np.random.default_rng(6)
    walks = np.cumsum(random.normal(0.0, 0.02, (400, 60)), axis=1)
    walks -= walks.mean(axis=1, keepdims=True)
    found = classify(list(np.exp(walks)))
    kept = [np.median(walk[steady_from(one, 0) :]) for walk, one in zip(walks, found, strict=True)]
    assert sum(one.start is not None and one.start > 0 for one in found) > 100
    assert abs(np.mean(kept)) < 3 * np.std(kept) / 20


def test_a_series_is_classified_independently_of_the_others():
    random = np.random.default_rng(6)
    short = [np.exp(random.standard_t(3, 28) * 0.02) for _ in range(60)]
    long = [np.exp(random.standard_t(3, size) * 0.02) for size in (40, 56, 96, 400)]
    alone = [classify([series])[0] for series in short]
    assert classify([*short, *long])[: len(short)] == alone


@pytest.mark.parametrize(("trials", "samples"), [(13, 4), (16, 4), (16, 5), (7, 20)])
def test_many_short_trials_of_another_level_do_not_hide_the_steady_state(trials, samples):
    courses = [series((trials, 1.05), (samples, 1.0), sd=0.003, seed=seed) for seed in range(100)]
    found = classify(courses, [trials] * 100)
    assert {one.kind for one in found} == {WarmupClass.WARM_UP}
    assert {one.start for one in found} <= {trials - 1, trials}


def test_a_level_of_the_last_samples_alone_is_no_steady_state():
    courses = [series((24, 1.0), (8, 1.0), (4, 1.5), sd=0.003, seed=seed) for seed in range(100)]
    assert {one.kind for one in classify(courses, [24] * 100)} == {WarmupClass.NO_STEADY_STATE}
