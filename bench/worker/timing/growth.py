"""Verifies that time grows with work, so that steps that were skipped or not waited for never become samples.

There are two tests. Twice as many steps must take clearly longer. And after synchronising, fetching the outputs of many
steps must not take longer than fetching those of one; steps still under way would delay the fetch by their own time.
Where it does, but takes as long after a rest, in which such steps would end, more steps decide: the memory of several
steps' outputs delays the fetch by the same time after any number of them, steps that a fetch computes by their own.
"""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional

#: Twice the steps must take at least this many times as long.
RATIO = 1.3
#: Fetching after many steps may take longer than after one by at most this share of the steps' time. XLA queues 32
#: steps on a GPU and then waits, so that a program that never waits hides only those.
HIDDEN_SHARE = 0.1
#: The steps of one measurement take about this long, so that scheduling delays matter little.
TRIAL_NS = 5_000_000
MOST_TRIAL_STEPS = 1 << 19
#: Where time does not grow, there are this many times as many steps, so often. A call may take long beside its steps,
#: as a loop over 300 tensors does. Steps seem long that were calibrated beside others on one GPU.
MORE, MOST_ENLARGED = 8, 2
#: Where fetching takes longer than steps, or longer after many of them, the steps take as long as it, or are this many:
#: fetching 50 MB takes 80 to 100 ms, and steps of 7 ms would not show beside the difference; after two steps of 2.5 ms
#: that write 4 MB in bfloat16 it took 0.9 ms longer than after one. More steps would hide those of a queue, above.
MOST_STEPS_BESIDE_FETCH = 100
#: Steps were under way where a rest, twice as long as what a fetch took longer, shortens it by this share of that.
ENDED_SHARE = 0.5
#: The tests use the shortest times of this many passes, or of fewer that took ``ENOUGH_NS`` together.
PASSES = 3
ENOUGH_NS = 200_000_000
#: A test fails only after this many passes and this much time: on a busy machine many passes in a row are disturbed.
DOUBT_PASSES = 9
DOUBT_NS = 1_500_000_000
#: Passes at most.
MOST_PASSES = 200


class NoGrowth(Exception):
    """The measured time does not grow with the steps; the message gives the times."""


class StepTimes(NamedTuple):
    """Nanoseconds of some steps with synchronisation, and of fetching the last step's outputs afterwards."""

    steps_ns: float
    fetch_ns: float


def verify(begin: Callable[[], None], measure: Callable[..., StepTimes], step_ns: int, least: int = 1) -> None:
    """Measure some steps, ``least`` or more, and twice as many, until both tests pass. Raises NoGrowth if they do not.

    ``begin`` resets the program and leaves nothing under way. ``measure(steps, rest_ns=0)`` runs a number of steps,
    synchronises, rests and fetches the last outputs. ``step_ns`` is about the time of a step.
    """
    step_ns, few = max(1, step_ns), 0
    best: Dict[int, StepTimes] = {}
    passes, spent, enlarged, rested_ns = 0, 0.0, 0, float("inf")

    def keep(steps: int) -> StepTimes:
        seen = measure(steps)
        best[steps] = StepTimes(*map(min, zip(seen, best.get(steps, seen))))
        return seen

    while True:
        begin()
        once = keep(1)
        if not few:
            beside = min(MOST_STEPS_BESIDE_FETCH, int(once.fetch_ns) // step_ns)
            few = min(MOST_TRIAL_STEPS, max(1, least, TRIAL_NS // step_ns, beside))
        spent += sum(once) + sum(sum(keep(steps)) for steps in sorted({few, 2 * few} - {1}))
        passes += 1
        reason = doubt(best, few)
        enough = least == 1 and passes >= PASSES * (enlarged + 1) and best[2 * few].steps_ns < ENOUGH_NS
        more = few
        if not grows(best, few):
            more = MOST_TRIAL_STEPS
        elif reason is not None:
            longer_ns = best[2 * few].fetch_ns - best[1].fetch_ns
            rested_ns = min(rested_ns, measure(2 * few, rest_ns=2 * longer_ns).fetch_ns)
            if best[2 * few].fetch_ns - rested_ns < ENDED_SHARE * longer_ns:
                more = MOST_STEPS_BESIDE_FETCH
        if enough and enlarged < MOST_ENLARGED and min(more, MORE * few) > few:
            few, enlarged, rested_ns = min(more, MORE * few), enlarged + 1, float("inf")
            continue
        if reason is None and (passes >= PASSES or spent >= ENOUGH_NS):
            return
        lasting = passes >= DOUBT_PASSES and spent >= DOUBT_NS
        if reason is not None and (lasting or passes >= MOST_PASSES):
            raise NoGrowth("time does not grow with work: " + reason)


def grows(best: Dict[int, StepTimes], few: int) -> bool:
    """Tell whether twice the steps took clearly longer."""
    return best[2 * few].steps_ns >= RATIO * max(1.0, best[few].steps_ns)


def doubt(best: Dict[int, StepTimes], few: int) -> Optional[str]:
    """Return why the times of 1, ``few`` and twice as many steps fail a test, None when they pass both."""
    once, twice = best[few], best[2 * few]
    if not grows(best, few):
        return "{} steps took {:.3g} ms, {} steps {:.3g} ms".format(
            few, once.steps_ns / 1e6, 2 * few, twice.steps_ns / 1e6
        )
    hidden = twice.fetch_ns - best[1].fetch_ns
    if hidden > HIDDEN_SHARE * twice.steps_ns:
        return (
            "after {} steps, timed at {:.3g} ms, fetching the outputs took {:.3g} ms longer than after one, so the "
            "steps were still under way"
        ).format(2 * few, twice.steps_ns / 1e6, hidden / 1e6)
    return None
