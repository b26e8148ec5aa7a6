"""Knows how to time a program: calibration, settling and sampling, with clock and synchronisation as arguments."""

from __future__ import annotations

import gc
import itertools
import time
from typing import Any, Callable, List, NamedTuple, Optional, Sequence

from . import growth, planting

#: Untimed runs of a step or two after a hand-over, at least: the first is 1.2 to 21 times slower, the second up to 1.8
#: times (cold caches, sleeping threads).
SETTLE_RUNS = 3
#: …and this long, not counting the first: steps of 0.1 ms were still 5 % slower a millisecond after a hand-over.
SETTLE_NS = 2_000_000
#: …but two are enough when the second takes this long, so that slow steps are not run three times for nothing.
SETTLE_SLOW_NS = 5_000_000
#: Untimed steps between the first reading of the waiting and the first sample, as that reading slows some steps down…
REHEARSED_STEPS = 4
#: …where a sample has so many more that it does not cost too much.
REHEARSED_SHARE = 0.5
#: More runs than this settle nothing more: the clock stands still.
SETTLE_MOST_RUNS = 20_000
#: Steps before calibration may end: TorchScript profiles its first runs and optimises the next.
WARMUP_STEPS = 4
#: More steps than this in one sample mean that the clock stands still.
MOST_STEPS = 1 << 20
#: A sample that fills less of its length than this was given too few steps.
SHORT_SHARE = 0.25
#: Calibration fills at least this many samples' time.
WARMUP_SAMPLES = 3


class Clock(NamedTuple):
    """Where time comes from, in nanoseconds; a test passes its own."""

    wall: Callable[[], int] = time.perf_counter_ns
    cpu: Callable[[], int] = time.process_time_ns


class Turn(NamedTuple):
    """The timed samples of one turn: steps and nanoseconds of each."""

    sample_steps: List[int]
    sample_ns: List[int]
    sample_cpu_ns: List[int]
    #: Empty where the kernel does not tell.
    sample_wait_ns: List[int]


def run_steps(
    step: Callable[..., Any], batches: Any, steps: int, synchronize: Callable[[Any], None], each: bool
) -> Any:
    """Run ``steps`` steps on the next batches; synchronise after each of them, or once after the last.

    Returns the last one's outputs.

    Synchronising once is only true where the device computes in order (a GPU's stream); on a processor JAX may compute
    independent steps at the same time, so every step is waited for.
    """
    outputs = None
    if each:
        for batch in itertools.islice(batches, steps):
            outputs = step(*batch)
            synchronize(outputs)
    else:
        for batch in itertools.islice(batches, steps):
            outputs = step(*batch)
        synchronize(outputs)
    return outputs


class Stopwatch:
    """Times one program. Every turn starts from the same state and batch, so every sample does the same work."""

    def __init__(
        self,
        step: Callable[..., Any],
        batches: Sequence[Any],
        synchronize: Callable[[Any], None],
        *,
        reset: Callable[[], None] = lambda: None,
        each: bool = True,
        slowdown: float = 0.0,
        sized_for: float = 0.0,
        clock: Clock = Clock(),  # noqa: B008 (immutable)
        waited: Callable[[], Optional[int]] = lambda: None,
    ) -> None:
        """Time ``step``; ``slowdown`` is planted, ``waited`` gives nanoseconds of waiting since it was last called.

        Samples hold as many steps as if ``sized_for`` were planted, to be compared with a program in which it is.
        """
        self._step = step
        self._batches = batches
        self._synchronize = synchronize
        self._reset = reset
        self._each = each
        self._slowdown = slowdown
        self._sized_for = sized_for or slowdown
        self._clock = clock
        self._waited = waited
        #: Steps in one sample, as calibrated.
        self.steps = 1
        self._sample_ns = 0

    @property
    def planted(self) -> float:
        """The slowdown that samples of this length really have."""
        return planting.extra_steps(self.steps, self._slowdown) / self.steps

    def _fill(self, steps: float) -> None:
        """Let samples have about this many steps."""
        self.steps = planting.stretched(min(MOST_STEPS, max(1, round(steps))), self._sized_for)

    def _time(self, batches: Any, steps: int) -> int:
        start = self._clock.wall()
        run_steps(self._step, batches, steps, self._synchronize, self._each)
        return self._clock.wall() - start

    def calibrate(self, sample_ns: int) -> List[int]:
        """Find how many steps fill ``sample_ns``; return the nanoseconds per step of every trial: the warm-up.

        The number doubles at most, as one slow trial must not decide; trials go on until the warm-up is long enough.
        """
        self._reset()
        batches = itertools.cycle(self._batches)
        steps, spent, done = 1, 0, 0
        seen: List[int] = []
        while True:
            elapsed = max(1, self._time(batches, steps))
            seen.append(elapsed // steps)
            spent += elapsed
            done += steps
            long_enough = elapsed >= sample_ns and spent >= WARMUP_SAMPLES * sample_ns
            if done >= WARMUP_STEPS and (long_enough or steps >= MOST_STEPS):
                self._fill(sample_ns / max(1, min(seen[-3:])))
                self._sample_ns = sample_ns
                return seen
            if elapsed < sample_ns:
                steps = min(2 * steps, max(steps + 1, sample_ns * steps // elapsed + 1))

    def verify_growth(self, fetch: Callable[[Any], Any], step_ns: int) -> None:
        """Raise growth.NoGrowth unless more steps take more time; ``fetch`` brings a step's outputs to the host."""
        batches = itertools.cycle(self._batches)

        def run(steps: int) -> Any:
            return run_steps(self._step, batches, steps, self._synchronize, self._each)

        def begin() -> None:
            self._reset()
            fetch(run(1))

        def trial(steps: int) -> growth.Trial:
            start = self._clock.wall()
            outputs = run(steps)
            stepped = self._clock.wall()
            fetch(outputs)
            return growth.Trial(stepped - start, self._clock.wall() - stepped)

        growth.verify(begin, trial, step_ns)

    def _settle(self, batches: Any) -> None:
        """Run untimed steps, as the first after a hand-over are slow: caches are cold, threads asleep."""
        settling = 0
        for run in range(SETTLE_MOST_RUNS):
            if (run >= SETTLE_RUNS and settling >= SETTLE_NS) or (run > 1 and settling >= SETTLE_SLOW_NS):
                return
            # From the third on in pairs: in a sample, too, a step's outputs are there while the next computes its own,
            # in memory that single steps leave cold. The first millisecond after settling was up to 10 % slower.
            elapsed = self._time(batches, 1 if run < 2 else 2)
            # The first step is the slow one: it says nothing about how long the next will take.
            settling += elapsed if run else 0

    def turn(self, samples: int) -> Turn:
        """Settle, then take ``samples`` timed samples of ``self.steps`` steps, and those that are planted.

        All steps are alike, so it makes no difference which of them are the planted ones.
        """
        self._reset()
        batches = itertools.cycle(self._batches)
        self._settle(batches)
        turn = Turn([], [], [], [])
        gc.disable()
        try:
            waits = [self._waited()]
            if self.steps * REHEARSED_SHARE >= REHEARSED_STEPS:
                self._time(batches, REHEARSED_STEPS)
            for _ in range(samples):
                steps = self.steps + planting.extra_steps(self.steps, self._slowdown)
                cpu = self._clock.cpu()
                elapsed = self._time(batches, steps)
                turn.sample_cpu_ns.append(self._clock.cpu() - cpu)
                waits.append(self._waited())
                turn.sample_ns.append(elapsed)
                turn.sample_steps.append(self.steps)
                if elapsed < SHORT_SHARE * self._sample_ns:
                    # It was calibrated in a bad moment, and the bad moment is over.
                    self._fill(self.steps * self._sample_ns / max(1, elapsed))
        finally:
            gc.enable()
        return turn if None in waits else turn._replace(sample_wait_ns=waits[1:])
