"""Measures the load of other programs before a run, and waits for them to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from ..counts import counted
from .other_load import OtherLoad

#: Seconds of one measurement of the load. Shorter ones miss a program that computes in bursts.
LOAD_S = 0.5
#: Other programs that use less than this many processors disturb no more than the system itself does.
MOST_QUIET = 0.15
#: Quiet measurements in a row before the machine counts as quiet.
QUIET_IN_A_ROW = 3

#: Returns how many of the processors other programs use; None where that is unknown.
MeasureLoad = Callable[[], float | None]


def load_of(processors: Sequence[int]) -> MeasureLoad:
    """Return a function that measures the load of these processors for ``LOAD_S`` seconds."""
    load = OtherLoad(processors)

    def measure() -> float | None:
        before = load.read(())
        time.sleep(LOAD_S)
        return load.since(before, load.read(()))

    return measure


def wait_until_quiet(
    measure: MeasureLoad,
    processors: int,
    wait_s: float,
    say: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Wait at most ``wait_s`` seconds for a quiet machine; say what is found, and return whether it is quiet.

    Where the load is unknown, the machine counts as quiet.
    """
    used = measure()
    if used is None or used < MOST_QUIET:
        return True
    busy = f"Other programs use {used:.1f} of {counted(processors, 'processor')}"
    if not wait_s:
        say(f"{busy}, which makes times unusable. Close them, or let the run wait for a quiet machine: --wait 10m")
        return False
    say(f"{busy}. Waiting at most {wait_s:.0f} s for them; Ctrl-C ends the run before it has begun.")
    end = clock() + wait_s
    quiet = 0
    while quiet < QUIET_IN_A_ROW:
        if clock() >= end:
            say("The machine did not become quiet; measuring all the same.")
            return False
        used = measure()
        quiet = quiet + 1 if used is None or used < MOST_QUIET else 0
    say("The machine is quiet now.")
    return True
