"""Times a program: calibrates, settles and takes samples, with the clock and the synchronisation as arguments."""

from __future__ import annotations

import gc
import itertools
import time
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import growth, planting

#: Least number of untimed runs, of one or two steps, at the start of a turn: the first is 1.2 to 21 times slower, the
#: second up to 1.8 times (cold caches, sleeping threads).
SETTLE_RUNS = 3
#: Least time of these runs without the first: steps of 0.1 ms were still 5 % slower a millisecond after a turn began.
SETTLE_NS = 2_000_000
#: Two runs are enough when the second takes this long, to save time with slow steps.
SETTLE_SLOW_NS = 5_000_000
#: Untimed steps between the first reading of the waiting time and the first sample: that reading slows some steps down,
#: by some 10 us for each thread. So there are fewer of slow steps, none of steps longer than this time.
REHEARSED_STEPS, REHEARSED_NS = 4, 2_000_000
#: They are skipped when they would exceed this share of a sample's steps.
REHEARSED_SHARE = 0.5
#: After this many runs the clock is taken to stand still.
SETTLE_MOST_RUNS = 20_000
#: Least number of steps of a calibration: TorchScript profiles its first runs and optimises the next.
WARMUP_STEPS = 4
#: The attempts of a calibration grow until one lasts for this share of a sample. The second is for runs that have a
#: cost beside their steps, which short attempts would take for a part of the steps.
ATTEMPT_SHARE, ATTEMPT_SHARE_BESIDE_START = 0.125, 0.5
#: When this many steps do not fill a sample, the clock is taken to stand still.
MOST_STEPS = 1 << 20
#: After a sample shorter than this share of its planned time, the next ones get more steps.
SHORT_SHARE = 0.25
#: Where a run has a cost beside its steps, a sample lasts at least this many times as long as the shortest of these
#: runs of one step: that cost is then less than a twentieth of it.
START_SHARES, START_RUNS = 20, 5
#: A calibration lasts at least as long as this many samples, or so many nanoseconds where that is less.
WARMUP_SAMPLES, WARMUP_NS = 3, 50_000_000


class Clock(NamedTuple):
    """The sources of wall time and of the process's CPU time, in nanoseconds; tests pass fake ones."""

    wall: Callable[[], int] = time.perf_counter_ns
    cpu: Callable[[], int] = time.process_time_ns
    #: Takes seconds.
    rest: Callable[[float], None] = time.sleep


class Turn(NamedTuple):
    """The steps and nanoseconds of every timed sample of one turn."""

    sample_steps: List[int]
    sample_ns: List[int]
    sample_cpu_ns: List[int]
    #: Empty where the kernel does not report it.
    sample_wait_ns: List[int]


def looped(step: Callable[..., Any], synchronize: Callable[[Any], None], each: bool) -> Callable[[Sequence[Any]], Any]:
    """Make the ``run`` of a program that has only a ``step``: one step for each batch, and the last outputs.

    ``each`` says that every step is synchronised. Without it the caller synchronises once, which is only valid where
    the device computes in order (a GPU's stream) or before ``step`` returns: on a processor JAX may compute
    independent steps at the same time.
    """

    def run(batches: Sequence[Any]) -> Any:
        outputs = None
        for batch in batches:
            outputs = step(*batch)
        return outputs

    def run_synchronised(batches: Sequence[Any]) -> Any:
        outputs = None
        for batch in batches:
            outputs = step(*batch)
            synchronize(outputs)
        return outputs

    return run_synchronised if each else run


def take(batches: Iterator[Any], steps: int) -> List[Any]:
    """Return the next batches of a rotation; a list, so that choosing them is not part of the time."""
    return list(itertools.islice(batches, steps))


class Stopwatch:
    """Times one program. Every turn starts from the same state and batch, so every sample does the same work."""

    def __init__(
        self,
        run: Callable[[Sequence[Any]], Any],
        batches: Sequence[Any],
        synchronize: Callable[[Any], None],
        *,
        reset: Callable[[], None] = lambda: None,
        slowdown: float = 0.0,
        sized_for: float = 0.0,
        clock: Clock = Clock(),  # noqa: B008 (immutable)
        waited: Callable[[], Optional[int]] = lambda: None,
    ) -> None:
        """Time ``run``, which takes a list of batches, on ``batches`` in rotation.

        ``slowdown`` is the share of extra steps to plant. ``sized_for`` gives samples the length for another slowdown,
        so that a plain program can be compared with a slowed one. ``waited`` returns the nanoseconds of waiting since
        its last call.
        """
        self._run = run
        self._batches = batches
        self._synchronize = synchronize
        self._reset = reset
        self._slowdown = slowdown
        self._sized_for = sized_for or slowdown
        self._clock = clock
        self._waited = waited
        #: Steps in one sample, as calibrated.
        self.steps = 1
        self._sample_ns = 0

    @property
    def planted(self) -> float:
        """The actual slowdown of samples with this many steps."""
        return planting.extra_steps(self.steps, self._slowdown) / self.steps

    def now_ns(self) -> int:
        """Return what the clock says that times the samples."""
        return self._clock.wall()

    def _fill(self, steps: float) -> None:
        """Set the number of steps in a sample to about ``steps``."""
        self.steps = planting.stretched(min(MOST_STEPS, max(1, round(steps))), self._sized_for)

    def _time(self, batches: List[Any]) -> int:
        """Return the nanoseconds of one step for each of ``batches``."""
        start = self._clock.wall()
        self._synchronize(self._run(batches))
        return self._clock.wall() - start

    def calibrate(self, sample_ns: int, starts: bool = False) -> List[int]:
        """Find how many steps fill ``sample_ns``; return the nanoseconds per step of every attempt (the warm-up).

        ``starts`` says that a run has a cost beside its steps; samples may be longer then.
        An attempt has at most twice as many steps as the one before, so that one slow attempt has little effect.
        Attempts continue until the warm-up is long enough.
        """
        self._reset()
        batches = itertools.cycle(self._batches)
        if starts:
            single_ns = min(self._time(take(batches, 1)) for _ in range(START_RUNS))
            sample_ns = max(sample_ns, START_SHARES * single_ns)
        attempt_ns = sample_ns * (ATTEMPT_SHARE_BESIDE_START if starts else ATTEMPT_SHARE)
        steps, spent, done = 1, 0, 0
        seen: List[int] = []
        while True:
            elapsed = max(1, self._time(take(batches, steps)))
            # The first attempt may be slow: it says nothing about how warm the program is.
            spent += elapsed if seen else 0
            seen.append(elapsed // steps)
            done += steps
            long_enough = elapsed >= attempt_ns and spent >= min(WARMUP_SAMPLES * sample_ns, WARMUP_NS)
            if done >= WARMUP_STEPS and (long_enough or steps >= MOST_STEPS):
                self._fill(sample_ns / max(1, min(seen[-3:])))
                self._sample_ns = sample_ns
                return seen
            if elapsed < attempt_ns:
                steps = min(2 * steps, max(steps + 1, sample_ns * steps // elapsed + 1))

    def verify_growth(self, fetch: Callable[[Any], Any], step_ns: int, starts: bool = False) -> None:
        """Raise NoGrowth unless more steps take more time; ``fetch`` copies a step's outputs to the host.

        Where runs have a cost beside their steps, as ``starts`` says, they have at least half of a sample's steps.
        """
        batches = itertools.cycle(self._batches)

        def begin() -> None:
            self._reset()
            outputs = self._run(take(batches, 1))
            self._synchronize(outputs)
            fetch(outputs)

        def measure(steps: int, rest_ns: float = 0.0) -> growth.StepTimes:
            taken = take(batches, steps)
            start = self._clock.wall()
            outputs = self._run(taken)
            self._synchronize(outputs)
            stepped = self._clock.wall()
            if rest_ns:
                self._clock.rest(rest_ns / 1e9)
            rested = self._clock.wall()
            fetch(outputs)
            return growth.StepTimes(stepped - start, self._clock.wall() - rested)

        growth.verify(begin, measure, step_ns, max(1, self.steps // 2) if starts else 1)

    def _settle(self, batches: Any) -> int:
        """Run untimed steps: the first of a turn are slow (cold caches, idle threads). Return the ns of the last."""
        settling = steps = elapsed = 0
        for run in range(SETTLE_MOST_RUNS):
            if (run >= SETTLE_RUNS and settling >= SETTLE_NS) or (run > 1 and settling >= SETTLE_SLOW_NS):
                break
            # Pairs from the third run on: as in a sample, the first step's outputs still occupy memory while the second
            # computes, so the second uses memory that single steps leave cold. Without pairs the first millisecond of
            # samples was up to 10 % slower.
            steps = 1 if run < 2 else 2
            elapsed = self._time(take(batches, steps))
            # The first run is much slower than the others, so its time does not count.
            settling += elapsed if run else 0
        return elapsed // max(1, steps)

    def work(self, least_ns: int) -> Tuple[int, int]:
        """Run steps for at least this long; return how many, and the nanoseconds that they took."""
        self._reset()
        batches = itertools.cycle(self._batches)
        steps, start = 0, self._clock.wall()
        while True:
            self._time(take(batches, self.steps))
            steps += self.steps
            elapsed = self._clock.wall() - start
            if elapsed >= least_ns:
                return steps, elapsed

    def turn(self, samples: int) -> Turn:
        """Settle, then take ``samples`` timed samples, each of ``self.steps`` steps plus the planted ones."""
        self._reset()
        batches = itertools.cycle(self._batches)
        step_ns = self._settle(batches)
        rehearsed = min(REHEARSED_STEPS, REHEARSED_NS // max(1, step_ns))
        turn = Turn([], [], [], [])
        gc.disable()
        try:
            waits = [self._waited()]
            if rehearsed and self.steps * REHEARSED_SHARE >= rehearsed:
                self._time(take(batches, rehearsed))
            for _ in range(samples):
                taken = take(batches, self.steps + planting.extra_steps(self.steps, self._slowdown))
                cpu = self._clock.cpu()
                elapsed = self._time(taken)
                turn.sample_cpu_ns.append(self._clock.cpu() - cpu)
                waits.append(self._waited())
                turn.sample_ns.append(elapsed)
                turn.sample_steps.append(self.steps)
                if elapsed < SHORT_SHARE * self._sample_ns:
                    # The calibration was disturbed, and the disturbance is over.
                    self._fill(self.steps * self._sample_ns / max(1, elapsed))
        finally:
            gc.enable()
        return turn if None in waits else turn._replace(sample_wait_ns=waits[1:])
