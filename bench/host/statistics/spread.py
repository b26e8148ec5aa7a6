"""Decides whether the spread of a cell is large: samples of a process, or the processes, lie far apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .location import Location

#: Above this interquartile range, relative to the median, torch.utils.benchmark warns of "significant environmental
#: influence" (``_IQR_GROSS_WARN_THRESHOLD`` of its Measurement).
WIDE_SPREAD = 0.25
#: The fewest samples whose quartiles are judged.
FEWEST_SAMPLES = 4
#: Noise does not double a time; a second mode, such as spinning threads that share a core, does.
APART_FACTOR = 2.0


@dataclass(frozen=True)
class Spread:
    """In how many processes the samples are far apart, and how far the processes are from each other."""

    processes: int
    #: Processes whose interquartile range exceeds ``WIDE_SPREAD`` of their median.
    wide: int
    #: Processes whose median exceeds ``APART_FACTOR`` times their 10% quantile: fewer than a quarter of the samples
    #: were undisturbed, so all quartiles lie among the disturbed ones.
    slow: int
    #: The slowest process's median over the fastest's.
    ratio: float

    @property
    def is_large(self) -> bool:
        return bool(self.wide or self.slow or self.is_apart)

    @property
    def is_apart(self) -> bool:
        """Whether the processes lie far apart."""
        return self.ratio > APART_FACTOR


def judge(locations: Sequence[Location]) -> Spread:
    """Judge the processes of one cell; a process with too few samples counts with its median only."""
    judged = [location for location in locations if location.n >= FEWEST_SAMPLES]
    medians = [location.median for location in locations]
    return Spread(
        processes=len(locations),
        wide=sum(location.spread > WIDE_SPREAD for location in judged),
        slow=sum(location.median > APART_FACTOR * location.q10 for location in judged),
        ratio=max(medians) / min(medians) if medians else 1.0,
    )
