"""Tests the stopwatch exactly, with a clock that only the steps advance."""

import gc

import pytest

from bench.worker.timing import growth
from bench.worker.timing.stopwatch import (
    REHEARSED_NS,
    REHEARSED_STEPS,
    SETTLE_NS,
    SETTLE_RUNS,
    SETTLE_SLOW_NS,
    START_SHARES,
    WARMUP_NS,
    WARMUP_STEPS,
    Clock,
    Stopwatch,
    looped,
)

#: Steps of the fewest runs that settle: two single ones, then pairs.
SETTLED = 2 + 2 * (SETTLE_RUNS - 2)


class Bench:
    """A simulated framework: a step takes ``step_ns`` on a fake clock, synchronising takes ``sync_ns``."""

    def __init__(self, step_ns, sync_ns=0, first_ns=0):
        self.now = 0
        self.cpu = 0
        self.seen = []
        self.synchronized = 0
        self.resets = 0
        self.step_ns, self.sync_ns, self.first_ns = step_ns, sync_ns, first_ns

    def step(self, number):
        cost = self.first_ns if self.first_ns and not self.seen else self.step_ns
        self.now += cost
        self.cpu += 2 * cost
        self.seen.append(number)
        return {"out": number}

    def synchronize(self, outputs):
        assert outputs is not None
        self.now += self.sync_ns
        self.synchronized += 1

    def reset(self):
        self.resets += 1

    def stopwatch(self, steps=1, each=False, **options):
        clock = Clock(wall=lambda: self.now, cpu=lambda: self.cpu)
        inputs = [(0,), (1,), (2,), (3,)]
        run = looped(lambda *batch: self.step(*batch), self.synchronize, each)
        made = Stopwatch(run, inputs, self.synchronize, reset=self.reset, clock=clock, **options)
        made.steps = steps
        return made


def test_work_lasts_at_least_as_long_as_asked_and_ends_with_a_whole_sample():
    bench = Bench(step_ns=1000)
    assert bench.stopwatch(steps=7).work(15_000) == (21, 21_000)
    assert len(bench.seen) == 21
    assert bench.resets == 1


def test_a_turn_times_exactly_the_steps_it_is_given():
    bench = Bench(step_ns=1000)
    turn = bench.stopwatch(steps=7).turn(samples=5)
    assert turn.sample_ns == [7000] * 5
    assert turn.sample_cpu_ns == [14000] * 5


def test_synchronisation_is_inside_the_time():
    bench = Bench(step_ns=1000, sync_ns=50)
    assert bench.stopwatch(each=True, steps=10).turn(samples=1).sample_ns == [10 * 1050 + 50]
    assert bench.stopwatch(each=False, steps=10).turn(samples=1).sample_ns == [10 * 1000 + 50]


def test_every_step_is_synchronised_unless_the_device_computes_in_order():
    bench = Bench(step_ns=SETTLE_NS // 2)
    bench.stopwatch(each=True, steps=10).turn(samples=2)
    assert bench.synchronized == SETTLED + 2 + 20 + (SETTLE_RUNS + 1 + 2)
    bench = Bench(step_ns=SETTLE_NS // 2)
    bench.stopwatch(each=False, steps=10).turn(samples=2)
    assert bench.synchronized == SETTLE_RUNS + 1 + 2


def test_a_program_is_given_the_batches_of_a_sample_in_one_list():
    given = []
    now = [0]

    def run(batches):
        given.append(batches)
        now[0] += 1000 * len(batches)
        return {"out": batches[-1]}

    clock = Clock(wall=lambda: now[0], cpu=lambda: now[0])
    stopwatch = Stopwatch(run, [(0,), (1,), (2,)], lambda outputs: None, clock=clock)
    stopwatch.steps = 5
    turn = stopwatch.turn(samples=2)
    assert turn.sample_ns == turn.sample_cpu_ns == [5000, 5000]
    assert [len(batches) for batches in given[-2:]] == [5, 5]
    assert given[-1][0] == ((given[-2][-1][0] + 1) % 3,)


def test_settling_is_untimed_and_hides_a_slow_first_step():
    bench = Bench(step_ns=1000, first_ns=21_000)
    assert bench.stopwatch(steps=1).turn(samples=1).sample_ns == [1000]


@pytest.mark.parametrize(
    ("step_ns", "settling"),
    [(1000, 2 + SETTLE_NS // 1000), (SETTLE_NS // 2, SETTLED), (SETTLE_NS, SETTLED), (SETTLE_SLOW_NS, 2)],
)
def test_settling_takes_steps_and_time_but_slow_steps_settle_twice(step_ns, settling):
    bench = Bench(step_ns=step_ns)
    bench.stopwatch(steps=1).turn(samples=1)
    assert len(bench.seen) == settling + 1


def test_a_cold_first_step_does_not_end_the_settling():
    bench = Bench(step_ns=SETTLE_NS, first_ns=10 * SETTLE_SLOW_NS)
    bench.stopwatch().turn(samples=1)
    assert len(bench.seen) == SETTLED + 1


@pytest.mark.parametrize(("steps", "rehearsed"), [(1, 0), (7, 0), (8, REHEARSED_STEPS), (100, REHEARSED_STEPS)])
def test_the_first_sample_is_rehearsed_where_it_has_many_steps(steps, rehearsed):
    bench = Bench(step_ns=REHEARSED_NS // REHEARSED_STEPS)
    bench.stopwatch(steps=steps).turn(samples=1)
    # Two single steps and two pairs settle: the first does not count, the others take 2.5 ms.
    assert len(bench.seen) == 6 + rehearsed + steps


@pytest.mark.parametrize(("step_ns", "rehearsed"), [(REHEARSED_NS // 2, 2), (REHEARSED_NS, 1), (REHEARSED_NS + 1, 0)])
def test_few_slow_steps_are_rehearsed(step_ns, rehearsed):
    bench = Bench(step_ns=step_ns)
    bench.stopwatch(steps=20).turn(samples=1)
    assert len(bench.seen) == SETTLED + rehearsed + 20


def test_settling_ends_although_the_clock_stands_still():
    bench = Bench(step_ns=0)
    assert bench.stopwatch().turn(samples=1).sample_ns == [0]


def test_inputs_rotate_and_each_turn_starts_with_the_same():
    bench = Bench(step_ns=1000)
    stopwatch = bench.stopwatch(steps=6)
    stopwatch.turn(samples=1)
    first = bench.seen[:]
    del bench.seen[:]
    stopwatch.turn(samples=1)
    assert bench.seen == first
    assert set(first) == {0, 1, 2, 3}
    assert bench.resets == 2


@pytest.mark.parametrize("step_ns", [50, 1_000, 333_333, 9_000_000, 40_000_000])
def test_calibration_fills_the_sample(step_ns):
    stopwatch = Bench(step_ns=step_ns).stopwatch()
    warmup = stopwatch.calibrate(10_000_000)
    steps = stopwatch.steps
    assert 0.5 * 10_000_000 <= steps * step_ns <= 1.5 * 10_000_000 or (steps == 1 and step_ns > 5_000_000)
    assert set(warmup) == {step_ns}


@pytest.mark.parametrize("step_ns", [50, 1_000, 333_333, 9_000_000])
def test_calibration_takes_little_longer_than_the_warm_up(step_ns):
    bench = Bench(step_ns=step_ns)
    bench.stopwatch().calibrate(60_000_000)
    assert WARMUP_NS <= len(bench.seen) * step_ns <= 1.3 * WARMUP_NS


def test_calibration_is_not_fooled_by_a_slow_first_step():
    stopwatch = Bench(step_ns=1000, first_ns=500_000_000).stopwatch()
    warmup = stopwatch.calibrate(10_000_000)
    assert stopwatch.steps == 10_000
    assert warmup[0] == 500_000_000


def test_calibration_warms_up_for_some_steps_at_least():
    bench = Bench(step_ns=100_000_000)
    bench.stopwatch().calibrate(1)
    assert len(bench.seen) >= WARMUP_STEPS


def test_a_clock_that_stands_still_ends_calibration():
    bench = Bench(step_ns=0)
    stopwatch = bench.stopwatch()
    stopwatch.calibrate(1000)
    assert stopwatch.steps >= 1


def test_a_disturbed_calibration_is_corrected_after_the_first_sample():
    bench = Bench(step_ns=100_000_000)
    stopwatch = bench.stopwatch()
    stopwatch.calibrate(10_000_000)
    assert stopwatch.steps == 1
    bench.step_ns = 1_000_000
    turn = stopwatch.turn(samples=3)
    assert turn.sample_steps == [1, 10, 10]
    assert turn.sample_ns == [1_000_000, 10_000_000, 10_000_000]


def test_the_garbage_collector_is_off_while_timing_and_on_afterwards():
    bench = Bench(step_ns=1000)
    seen = []
    original = bench.step
    bench.step = lambda number: seen.append(gc.isenabled()) or original(number)
    bench.stopwatch(steps=2).turn(samples=1)
    assert seen[-2:] == [False, False]
    assert gc.isenabled()


def test_the_garbage_collector_is_on_again_after_a_step_that_fails():
    bench = Bench(step_ns=1000)
    calls = []

    def step(number):
        calls.append(number)
        if len(calls) > SETTLED:
            raise RuntimeError("broken")
        return {"out": number}

    bench.step = step
    with pytest.raises(RuntimeError):
        bench.stopwatch(steps=1).turn(samples=1)
    assert gc.isenabled()


def test_a_sample_is_long_where_a_run_has_a_cost_beside_its_steps():
    bench = Bench(step_ns=10_000, sync_ns=1_000_000)
    stopwatch = bench.stopwatch()
    stopwatch.calibrate(1000, starts=True)
    (sample_ns,) = stopwatch.turn(samples=1).sample_ns
    assert sample_ns >= 0.9 * START_SHARES * 1_010_000
    assert sample_ns / stopwatch.steps < 1.06 * bench.step_ns


def test_where_a_run_has_a_cost_beside_its_steps_growth_is_looked_for_in_many():
    # So long that no test without ``starts`` tries as many steps.
    bench = Bench(step_ns=100_000, sync_ns=300_000_000)
    stopwatch = bench.stopwatch()
    step_ns = min(stopwatch.calibrate(1000, starts=True)[-3:])
    with pytest.raises(growth.NoGrowth):
        stopwatch.verify_growth(lambda outputs: None, step_ns)
    stopwatch.verify_growth(lambda outputs: None, step_ns, starts=True)


def test_steps_that_are_skipped_are_found_where_a_run_has_a_cost_beside_its_steps():
    bench = Bench(step_ns=0, sync_ns=10_000_000)
    stopwatch = bench.stopwatch(steps=100)
    with pytest.raises(growth.NoGrowth):
        stopwatch.verify_growth(lambda outputs: None, 10_000, starts=True)
