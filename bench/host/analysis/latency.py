"""Computes the latency of single steps: the quantiles that are promised of a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..statistics.location import FloatArray, quantiles
from .medians import median
from .processes import TimedProcess

if TYPE_CHECKING:
    from .results import Result

SHARES = np.array([0.5, 0.99])
#: With fewer samples of a process, its 99 % quantile is nearly its slowest sample.
FEWEST = 100


@dataclass(frozen=True)
class Latency:
    """Seconds of a step, each timed by itself: quantiles of a process's samples, medians over processes."""

    p50_s: float
    p99_s: float


def latency_of(timed: Sequence[TimedProcess]) -> Latency | None:
    """Return the latency of a cell; None where a sample has several steps, as their mean hides slow ones.

    None, too, where no process has ``FEWEST`` samples that count.
    """
    if any(steps != 1 for process in timed for steps in process.record.sample_steps):
        return None
    steady = [one for process in timed if len(one := steady_s(process)) >= FEWEST]
    if not steady:
        return None
    each = np.array([quantiles(np.sort(one), SHARES) for one in steady])
    return Latency(*(value for column in each.T.tolist() if (value := median(column)) is not None))


def steady_s(process: TimedProcess) -> FloatArray:
    """Return the seconds of the samples that count."""
    turns = process.turns
    return np.asarray(np.exp(turns.sample_log_s[turns.sample_turns >= turns.steady_turn]))


def largest_within(results: Iterable[Result], bound_s: float) -> Result | None:
    """Return the result of the largest throughput whose 99 % quantile is at most ``bound_s``; None without any."""
    within = [result for result in results if result.latency and result.latency.p99_s <= bound_s and result.throughput]
    return max(within, key=lambda result: result.throughput.value if result.throughput else 0.0, default=None)
