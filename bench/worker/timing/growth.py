"""Knows whether time grows with work: steps that are not done, or not waited for, must not become samples.

Two signs are looked at. Twice the steps must take clearly longer. And what the steps computed must be there once they
have been waited for: fetching the outputs of many steps may take no longer than fetching those of one, while after
steps that are still under way it takes as long as they do.
"""

from __future__ import annotations

from typing import Callable, Dict, NamedTuple, Optional

#: Twice the steps take at least this many times as long; what is less is mostly something else than steps.
RATIO = 1.3
#: The fetch of many steps' outputs takes longer than that of one step's by at most this share of the steps' time.
HIDDEN_SHARE = 0.25
#: The trial steps fill about this time, long against the scheduler's moods.
TRIAL_NS = 5_000_000
MOST_TRIAL_STEPS = 1 << 19
#: The best of this many passes counts, or of fewer when they have taken so long…
PASSES = 3
ENOUGH_NS = 200_000_000
#: …and a doubt must survive this many, and this long: on a crowded machine many passes in a row are disturbed…
DOUBT_PASSES = 9
DOUBT_NS = 1_500_000_000
#: …but not more than this many.
MOST_PASSES = 200


class NoGrowth(Exception):
    """The time of the steps is not that of their work; the message says how that was seen."""


class Trial(NamedTuple):
    """Nanoseconds of some steps, synchronisation included, and then of fetching the last one's outputs."""

    steps_ns: float
    fetch_ns: float


def verify(begin: Callable[[], None], trial: Callable[[int], Trial], step_ns: int) -> None:
    """Try some steps and twice as many; raises NoGrowth when the doubt persists.

    ``begin`` brings the program to its start with nothing under way, ``trial`` does a number of steps and fetches,
    ``step_ns`` is what a step takes, roughly.
    """
    few = min(MOST_TRIAL_STEPS, max(1, TRIAL_NS // max(1, step_ns)))
    best: Dict[int, Trial] = {}
    passes, spent = 0, 0.0
    while True:
        begin()
        for steps in sorted({1, few, 2 * few}):
            seen = trial(steps)
            spent += sum(seen)
            best[steps] = Trial(*map(min, zip(seen, best.get(steps, seen))))
        passes += 1
        reason = doubt(best, few)
        if reason is None and (passes >= PASSES or spent >= ENOUGH_NS):
            return
        lasting = passes >= DOUBT_PASSES and spent >= DOUBT_NS
        if reason is not None and (lasting or passes >= MOST_PASSES):
            raise NoGrowth("time does not grow with work: " + reason)


def doubt(best: Dict[int, Trial], few: int) -> Optional[str]:
    """Say what is wrong with the times of 1, ``few`` and twice as many steps; None when nothing is."""
    once, twice = best[few], best[2 * few]
    if twice.steps_ns < RATIO * max(1.0, once.steps_ns):
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
