"""Grades each cell: can its number be used, and how firm is what a reader concludes from it?

The number is the one that a table of speed-ups shows: the ratio to the baseline, or the time where there is no ratio,
as in the baseline itself. The grade summarises evidence that the analysis already has: how far pairs, processes and
samples lie apart, and how much other programs computed meanwhile. It decides nothing about verdicts, which rest on
tests.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

from ..statistics.bootstrap import Estimate
from ..statistics.warmup import WarmupClass
from .compilation import recompilations

if TYPE_CHECKING:
    from .results import Result

#: A ratio is noisy when its interval reaches further than this from it, as a factor…
NOISY = 0.05
#: …and further than this share of its distance to 1, in logarithms. So "twice as fast" may be 1.5 to 2.8 times, but a
#: cell without the mark is as fast, faster or slower as its number says.
SHARE_OF_DISTANCE = 0.5
#: A time is noisy when its interval reaches further than this from it: then the first of its two digits is open.
NOISY_TIME = 0.10
#: A cell is disturbed when at least this share of its processes had to share the processors with other programs.
SHARED = 0.5


class Quality(Enum):
    """How much of a number is the cell's own, best first."""

    CLEAN = "clean"
    #: The interval is too wide for a conclusion, or there is none; more rounds give a firmer value.
    NOISY = "noisy"
    #: One number cannot describe the samples: they spread widely, drift, or were recompiled.
    UNSTEADY = "unsteady"
    #: Other programs computed meanwhile: the time is theirs too, so it must not be compared.
    DISTURBED = "disturbed"

    @property
    def usable(self) -> bool:
        return self is not Quality.DISTURBED


def withheld(disturbed: int, processes: int) -> bool:
    """Tell whether a cell is disturbed: so many of its timed processes had to share the processors."""
    return processes > 0 and disturbed >= SHARED * processes


def quality_of(result: Result) -> Quality | None:
    """Grade the ratio of a cell, or its time where it has no ratio; None where it has no time."""
    if result.step is None:
        return None
    if withheld(sum(process.disturbed for process in result.timed), len(result.timed)):
        return Quality.DISTURBED
    if is_unsteady(result, compared=result.ratio is not None):
        return Quality.UNSTEADY
    noisy = is_noisy_time(result.step) if result.ratio is None else is_noisy_ratio(result.ratio.estimate)
    return Quality.NOISY if noisy else Quality.CLEAN


def is_noisy_ratio(ratio: Estimate) -> bool:
    """Tell whether the conclusion from a ratio could be another: faster or slower, and by about how much."""
    return _reach(ratio) > max(math.log1p(NOISY), SHARE_OF_DISTANCE * abs(math.log(ratio.value)))


def is_noisy_time(time: Estimate) -> bool:
    return _reach(time) > math.log1p(NOISY_TIME)


def _reach(estimate: Estimate) -> float:
    """Return how far the interval reaches from the value, in logarithms; infinite where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return math.inf
    return max(math.log(estimate.value / estimate.low), math.log(estimate.high / estimate.value))


def is_unsteady(result: Result, *, compared: bool) -> bool:
    """Tell whether the samples of at least half of the processes lie far apart, or never became steady.

    Processes that are far apart make a time unsteady, but not a ratio of a cell that is ``compared``: what differs from
    round to round cancels in it.
    """
    found, warm_up = result.spread, result.warm_up
    restless = 0 if warm_up is None else warm_up.number_of(WarmupClass.NO_STEADY_STATE)
    return (
        2 * max(found.wide, found.slow, restless) >= found.processes
        or (found.is_apart and not compared)
        or recompilations(result.records) > 0
    )
