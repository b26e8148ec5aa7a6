"""Tests that a planted slowdown is real work and has the requested size, or that its actual size is reported."""

import pytest
from test_stopwatch import Bench

from bench.worker.timing.planting import MOST_STRETCH, PRECISION, extra_steps, stretched
from bench.worker.timing.stopwatch import Clock, Stopwatch, looped


@pytest.mark.parametrize("slowdown", [0.01, 0.02, 0.05, 0.5])
@pytest.mark.parametrize("steps", [1, 7, 12, 40, 99, 1000, 54321])
def test_samples_become_long_enough_for_the_slowdown_within_the_limit(steps, slowdown):
    longer = stretched(steps, slowdown)
    planted = extra_steps(longer, slowdown) / longer
    assert steps <= longer <= MOST_STRETCH * steps
    reachable = MOST_STRETCH * steps * slowdown > 1
    assert not reachable or abs(planted - slowdown) <= PRECISION * slowdown


def test_nothing_is_planted_by_default():
    assert stretched(17, 0.0) == 17
    assert extra_steps(17, 0.0) == 0


def test_a_planted_slowdown_is_done_and_not_counted():
    bench = Bench(step_ns=1000)
    turn = bench.stopwatch(steps=100, slowdown=0.02).turn(samples=2)
    assert turn.sample_steps == [100, 100]
    assert turn.sample_ns == [102_000, 102_000]
    assert turn.sample_cpu_ns == [204_000, 204_000]


def test_calibration_makes_samples_long_enough_to_plant():
    bench = Bench(step_ns=1_000_000)
    stopwatch = bench.stopwatch(slowdown=0.02)
    stopwatch.calibrate(10_000_000)
    assert 46 <= stopwatch.steps <= 80
    assert stopwatch.planted == pytest.approx(0.02, rel=PRECISION)
    turn = stopwatch.turn(samples=1)
    assert turn.sample_ns[0] / turn.sample_steps[0] == pytest.approx(1_000_000 * (1 + stopwatch.planted))


def test_a_slowdown_that_cannot_be_planted_is_reported_as_none():
    bench = Bench(step_ns=100_000_000)
    stopwatch = bench.stopwatch(slowdown=0.02)
    stopwatch.calibrate(10_000_000)
    assert stopwatch.planted == 0.0


def test_a_sample_of_corrected_length_keeps_its_slowdown():
    bench = Bench(step_ns=100_000_000)
    stopwatch = bench.stopwatch(slowdown=0.02)
    stopwatch.calibrate(10_000_000)
    bench.step_ns = 100_000
    stopwatch.turn(samples=1)
    assert stopwatch.planted == pytest.approx(0.02, rel=PRECISION)


def test_samples_sized_for_a_slowdown_hold_as_many_steps_as_those_in_which_it_is_planted():
    def stopwatch(**options):
        now = [0]

        def step():
            now[0] += 230_000

        made = Stopwatch(
            looped(step, None, each=False),
            [()],
            lambda outputs: None,
            clock=Clock(lambda: now[0], lambda: now[0]),
            **options,
        )
        made.calibrate(5_000_000)
        return made

    planted, plain = stopwatch(slowdown=0.02, sized_for=0.02), stopwatch(sized_for=0.02)
    assert planted.steps == plain.steps > stopwatch().steps
    assert plain.planted == 0.0
    assert planted.turn(1).sample_ns[0] > plain.turn(1).sample_ns[0]
