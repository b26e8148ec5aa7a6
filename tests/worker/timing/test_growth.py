"""Tests the growth test with simulated devices on a fake clock: synchronous, asynchronous, noisy and idle."""

import random

import pytest

from bench.worker.timing.growth import (
    DOUBT_PASSES,
    ENOUGH_NS,
    MORE,
    MOST_PASSES,
    PASSES,
    TRIAL_NS,
    NoGrowth,
    StepTimes,
    verify,
)
from bench.worker.timing.stopwatch import Clock, Stopwatch, looped


class Device:
    """Steps take ``step_ns``; an asynchronous device queues a step in ``order_ns`` and computes in the background."""

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

    def rest(self, seconds):
        self.now += int(seconds * 1e9)

    def reset(self):
        self.resets += 1

    def stopwatch(self, each=True):
        clock = Clock(wall=lambda: self.now, cpu=lambda: 0, rest=self.rest)
        run = looped(self.step, self.synchronize, each)
        return Stopwatch(run, [(0,), (1,)], self.synchronize, reset=self.reset, clock=clock)

    def verify(self, each=True):
        """Verify the growth; return the number of passes."""
        stopwatch = self.stopwatch(each)
        warmup = stopwatch.calibrate(10_000_000)
        before = self.resets
        stopwatch.verify_growth(self.fetch, min(warmup[-3:]))
        return self.resets - before


@pytest.mark.parametrize("step_ns", [2_000, 30_000, 4_000_000, 400_000_000])
def test_a_synchronous_device_passes(step_ns):
    # With steps of 0.4 s one pass is long enough.
    assert Device(step_ns).verify() == (1 if step_ns > 200_000_000 else PASSES)


def test_a_step_that_was_calibrated_beside_others_passes():
    device = Device(30_000, fetch_ns=1000)
    begin = 400_000  # what every sample takes besides its steps: at 3 and 6 steps the time hardly grows

    def measure(steps, rest_ns=0):
        return StepTimes(begin + steps * device.step_ns, device.fetch_ns)

    verify(lambda: None, measure, step_ns=1_700_000)
    with pytest.raises(NoGrowth):
        verify(lambda: None, lambda steps, rest_ns=0: StepTimes(begin, device.fetch_ns), step_ns=1_700_000)


def test_a_call_that_takes_long_beside_its_steps_passes():
    # As a loop of JAX over the state of 300 tensors: one step 9.95 ms, two steps 12.3 ms.
    tried = set()

    def measure(steps, rest_ns=0):
        tried.add(steps)
        return StepTimes(7_600_000 + 2_350_000 * steps, 1000)

    verify(lambda: None, measure, step_ns=9_950_000)
    assert tried == {1, 2, MORE, 2 * MORE}


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("step_ns", [30_000, 4_000_000, 400_000_000])
def test_an_asynchronous_device_that_is_waited_for_passes(step_ns, each):
    assert Device(step_ns, order_ns=2_000).verify(each) == (1 if step_ns > 200_000_000 else PASSES)


@pytest.mark.parametrize("each", [True, False])
@pytest.mark.parametrize("step_ns", [30_000, 4_000_000, 400_000_000])
def test_an_asynchronous_device_that_is_not_waited_for_is_found(step_ns, each):
    with pytest.raises(NoGrowth, match=r"does not grow with work: after \d+ steps, .* still under way"):
        Device(step_ns, order_ns=2_000, waits=False).verify(each)


def test_a_queue_that_fills_up_is_found_while_it_holds_much_of_the_time():
    device = Device(1_000_000, order_ns=2_000, queue=32, waits=False)
    with pytest.raises(NoGrowth, match="still under way"):
        device.stopwatch().verify_growth(device.fetch, 1_000_000)
    # 5,000 steps, of which 32 are not waited for.
    device.stopwatch().verify_growth(device.fetch, 2_000)


def test_a_queue_of_32_short_steps_is_found():
    # As JAX computed a product on an H100 when nothing waited: a fifth of the time was hidden.
    device = Device(58_000, order_ns=20_000, queue=32, waits=False)
    with pytest.raises(NoGrowth, match="still under way"):
        device.stopwatch().verify_growth(device.fetch, 58_000)


def test_outputs_that_take_long_to_fetch_pass():
    assert Device(30_000, fetch_ns=200_000_000).verify() == 1


@pytest.mark.parametrize("seed", range(10))
def test_fetching_large_outputs_may_differ_by_more_than_a_step(seed):
    """As the gradients of every row, 52 MB, after steps of 7 ms: fetching them takes 70 to 110 ms."""
    draws = random.Random(seed)

    def noise():
        return draws.uniform(0.7, 1.1)

    device = Device(7_000_000, fetch_ns=100_000_000, noise=noise)
    assert device.verify() >= 1
    unwaited = Device(7_000_000, order_ns=2_000, fetch_ns=100_000_000, noise=noise, waits=False)
    with pytest.raises(NoGrowth, match="still under way"):
        unwaited.verify()


@pytest.mark.parametrize(
    ("step_ns", "fetch_ns", "longer_ns", "most"),
    [
        # TensorFlow's depthwise convolution in bfloat16.
        (2_600_000, 4_000_000, 920_000, 2 * MORE),
        # PyTorch's gradients of every row on a busy machine: by more than two steps.
        (4_095_000, 8_000_000, 9_310_000, 2 * MORE**2),
    ],
)
def test_a_fetch_that_takes_longer_after_several_steps_passes_where_a_rest_does_not_shorten_it(
    step_ns, fetch_ns, longer_ns, most
):
    tried = set()

    def measure(steps, rest_ns=0):
        tried.add(steps)
        return StepTimes(step_ns * steps, fetch_ns + longer_ns * (steps > 1))

    verify(lambda: None, measure, step_ns)
    assert max(tried) == most


def test_steps_that_the_fetch_computes_are_found():
    """A rest does not end them; but their time grows with their number."""

    def measure(steps, rest_ns=0):
        return StepTimes(2_000_000 * steps, 1_000_000 + 2_000_000 * steps)

    with pytest.raises(NoGrowth, match="still under way"):
        verify(lambda: None, measure, step_ns=2_000_000)


@pytest.mark.parametrize(
    ("queue", "step_ns"),
    [(2, 1_000_000), (2, 2_600_000), (8, 300_000), (8, 2_500_000), (19, 2_500_000), (32, 2_600_000)],
)
def test_a_queue_of_few_steps_is_found_while_it_holds_a_tenth_of_the_time(queue, step_ns):
    device = Device(step_ns, order_ns=2_000, queue=queue, waits=False)
    with pytest.raises(NoGrowth, match="still under way"):
        device.stopwatch().verify_growth(device.fetch, step_ns)


def test_steps_that_do_nothing_more_are_found():
    device = Device(0)
    done = []

    def once(number):
        # Only the first step computes; later ones return its result.
        device.now += 0 if done else 1_000_000
        done.append(number)
        return {"out": number}

    device.step = once
    device.synchronize = lambda outputs: setattr(device, "now", device.now + 50_000)
    with pytest.raises(NoGrowth, match=r"does not grow with work: \d+ steps took .* ms, \d+ steps"):
        device.stopwatch(each=False).verify_growth(device.fetch, 1_000_000)


def test_a_clock_that_stands_still_is_found():
    device = Device(0)
    with pytest.raises(NoGrowth):
        device.stopwatch().verify_growth(device.fetch, 1_000_000)


@pytest.mark.parametrize("seed", range(30))
def test_a_noisy_machine_passes(seed):
    """Half of the steps and fetches take up to five times as long."""
    draws = random.Random(seed)

    def noise():
        return 1.0 if draws.random() < 0.5 else draws.uniform(1.0, 5.0)

    device = Device(400_000, fetch_ns=3_000_000, noise=noise)
    assert device.verify() >= PASSES or device.now >= ENOUGH_NS


@pytest.mark.parametrize("seed", range(10))
def test_noise_does_not_hide_steps_that_are_not_waited_for(seed):
    draws = random.Random(seed)
    with pytest.raises(NoGrowth):
        Device(400_000, order_ns=2_000, waits=False, noise=lambda: draws.uniform(1.0, 5.0)).verify()


def test_one_disturbed_pass_is_repeated_and_repeats_are_limited():
    begun = []

    def measure(steps, rest_ns=0):
        return StepTimes(1e6 * steps if len(begun) > 5 else 1e9, 0)

    verify(lambda: begun.append(1), measure, TRIAL_NS)
    assert len(begun) == 6
    del begun[:]
    with pytest.raises(NoGrowth):
        verify(lambda: begun.append(1), lambda steps, rest_ns=0: StepTimes(1e9, 0), TRIAL_NS)
    assert DOUBT_PASSES <= len(begun) <= MOST_PASSES


def test_short_steps_are_tried_several_times_and_long_ones_once():
    device = Device(30_000)
    device.verify()
    before = device.resets - 1
    assert before == PASSES
    device = Device(400_000_000)
    device.verify()
    assert device.resets - 1 == 1
