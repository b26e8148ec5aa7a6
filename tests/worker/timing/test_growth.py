"""Tests the proof that time grows with work with fake devices on a fake clock: honest, asynchronous, noisy, idle."""

import random

import pytest

from bench.worker.timing.growth import (
    DOUBT_PASSES,
    MOST_PASSES,
    PASSES,
    TRIAL_NS,
    NoGrowth,
    Trial,
    verify,
)
from bench.worker.timing.stopwatch import Clock, Stopwatch


class Device:
    """Steps take ``step_ns``; an asynchronous device takes orders for ``order_ns`` and computes in the background."""

    def __init__(self, step_ns, order_ns=None, queue=None, fetch_ns=1000, waits=True, noise=lambda: 1.0):
        self.now = 0
        self.free = 0
        self.step_ns, self.order_ns, self.queue, self.fetch_ns = step_ns, order_ns, queue, fetch_ns
        self.waits, self.noise = waits, noise
        self.fetched = 0
        self.resets = 0

    def step(self, number):
        if self.order_ns is None:
            self.now += int(self.step_ns * self.noise())
            return {"out": number}
        self.now += int(self.order_ns * self.noise())
        self.free = max(self.free, self.now) + self.step_ns
        if self.queue is not None:
            self.now = max(self.now, self.free - self.queue * self.step_ns)
        return {"out": number}

    def synchronize(self, outputs):
        if self.waits:
            self.now = max(self.now, self.free)

    def fetch(self, outputs):
        self.now = max(self.now, self.free) + int(self.fetch_ns * self.noise())
        self.fetched += 1

    def reset(self):
        self.resets += 1

    def stopwatch(self, each=True):
        clock = Clock(wall=lambda: self.now, cpu=lambda: 0)
        return Stopwatch(self.step, [(0,), (1,)], self.synchronize, reset=self.reset, each=each, clock=clock)

    def verify(self, each=True):
        """Verify the growth; return in how many passes that was done."""
        stopwatch = self.stopwatch(each)
        warmup = stopwatch.calibrate(10_000_000)
        before = self.resets
        stopwatch.verify_growth(self.fetch, min(warmup[-3:]))
        return self.resets - before


@pytest.mark.parametrize("step_ns", [2_000, 30_000, 4_000_000, 400_000_000])
def test_an_honest_device_passes(step_ns):
    # Steps of 0.4 s have shown it at once.
    assert Device(step_ns).verify() == (1 if step_ns > 200_000_000 else PASSES)


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("step_ns", [30_000, 4_000_000, 400_000_000])
def test_an_asynchronous_device_that_is_waited_for_passes(step_ns, each):
    assert Device(step_ns, order_ns=2_000).verify(each) == (1 if step_ns > 200_000_000 else PASSES)


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("step_ns", [30_000, 4_000_000, 400_000_000])
def test_an_asynchronous_device_that_nobody_waits_for_is_found(step_ns, each):
    with pytest.raises(NoGrowth, match=r"does not grow with work: after \d+ steps, .* still under way"):
        Device(step_ns, order_ns=2_000, waits=False).verify(each)


def test_a_queue_that_fills_up_is_found_while_it_holds_much_of_the_time():
    device = Device(1_000_000, order_ns=2_000, queue=32, waits=False)
    with pytest.raises(NoGrowth, match="still under way"):
        device.stopwatch().verify_growth(device.fetch, 1_000_000)
    # 5,000 steps, of which 32 are not waited for.
    device.stopwatch().verify_growth(device.fetch, 2_000)


def test_outputs_that_take_long_to_fetch_are_no_reason():
    assert Device(30_000, fetch_ns=200_000_000).verify() == 1


def test_steps_that_do_nothing_more_are_found():
    device = Device(0)
    done = []

    def once(number):
        # A result that is kept: only the first step computes.
        device.now += 0 if done else 1_000_000
        done.append(number)
        return {"out": number}

    device.step = once
    device.synchronize = lambda outputs: setattr(device, "now", device.now + 50_000)
    with pytest.raises(NoGrowth, match=r"does not grow with work: \d+ steps took .* ms, \d+ steps"):
        device.stopwatch(each=False).verify_growth(device.fetch, 10_000)


def test_a_clock_that_stands_still_is_found():
    device = Device(0)
    with pytest.raises(NoGrowth):
        device.stopwatch().verify_growth(device.fetch, 10_000)


@pytest.mark.parametrize("seed", range(30))
def test_a_noisy_machine_is_no_reason(seed):
    """Half of the steps take up to five times as long, as do the fetches."""
    moods = random.Random(seed)

    def noise():
        return 1.0 if moods.random() < 0.5 else moods.uniform(1.0, 5.0)

    assert Device(400_000, fetch_ns=3_000_000, noise=noise).verify() >= PASSES


@pytest.mark.parametrize("seed", range(10))
def test_noise_does_not_hide_what_nobody_waits_for(seed):
    moods = random.Random(seed)
    with pytest.raises(NoGrowth):
        Device(400_000, order_ns=2_000, waits=False, noise=lambda: moods.uniform(1.0, 5.0)).verify()


def test_one_bad_moment_is_tried_again_and_a_lasting_doubt_is_not_tried_for_ever():
    begun = []

    def trial(steps):
        return Trial(1e6 * steps if len(begun) > 5 else 1e9, 0)

    verify(lambda: begun.append(1), trial, TRIAL_NS)
    assert len(begun) == 6
    del begun[:]
    with pytest.raises(NoGrowth):
        verify(lambda: begun.append(1), lambda steps: Trial(1e9, 0), TRIAL_NS)
    assert DOUBT_PASSES <= len(begun) <= MOST_PASSES


def test_short_steps_are_tried_several_times_and_long_ones_once():
    device = Device(30_000)
    device.verify()
    before = device.resets - 1
    assert before == PASSES
    device = Device(400_000_000)
    device.verify()
    assert device.resets - 1 == 1
