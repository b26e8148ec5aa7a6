"""Grades each cell: can its time be used, and how firm is it?

The grade summarises evidence that the analysis already has: how far samples and processes lie apart, and how much other
programs computed meanwhile. It decides nothing about verdicts, which rest on tests.
"""

from __future__ import annotations

from enum import Enum

from ..statistics.steadiness import FACTOR
from ..statistics.warmup import WarmupClass
from .compilation import recompilations
from .results import Result

#: A cell is noisy when the interval of its step time reaches further than this from its value, as a share of it.
NOISY = 0.05
#: A cell is disturbed when at least this share of its processes had to share the processors with other programs.
SHARED = 0.5


class Quality(Enum):
    """How much of a time is the cell's own, best first."""

    CLEAN = "clean"
    #: The processes disagree; more rounds give a firmer value.
    NOISY = "noisy"
    #: One number cannot describe the samples: they spread widely, drift, or were recompiled.
    UNSTEADY = "unsteady"
    #: Other programs computed meanwhile: the time is theirs too, so it must not be compared.
    DISTURBED = "disturbed"

    @property
    def usable(self) -> bool:
        return self is not Quality.DISTURBED


def quality_of(result: Result) -> Quality | None:
    """Grade the time of a cell; None where it has none."""
    if result.step is None:
        return None
    if sum(process.disturbed for process in result.timed) >= SHARED * len(result.timed):
        return Quality.DISTURBED
    if _unsteady(result):
        return Quality.UNSTEADY
    low, high = result.step.low, result.step.high
    reach = 0.0 if low is None or high is None else max(result.step.value - low, high - result.step.value)
    return Quality.NOISY if reach > NOISY * result.step.value else Quality.CLEAN


def _unsteady(result: Result) -> bool:
    """Tell whether the samples of at least half of the processes lie far apart, or never became steady."""
    found, warm_up = result.steadiness, result.warm_up
    restless = 0 if warm_up is None else warm_up.number_of(WarmupClass.NO_STEADY_STATE)
    return (
        2 * max(found.wide, found.slow, restless) >= found.processes
        or found.ratio > FACTOR
        or recompilations(result.records) > 0
    )
