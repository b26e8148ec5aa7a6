"""Computes the exact bounds of a rate from counts."""

from __future__ import annotations

from dataclasses import dataclass

from scipy import special

LEVEL = 0.95


@dataclass(frozen=True)
class Rate:
    """``count`` of ``of`` trials, with the exact bounds of the probability behind them (Clopper & Pearson 1934)."""

    count: int
    of: int
    #: The two-sided interval: both bounds together hold with the level.
    low: float
    high: float
    #: One-sided bounds: each alone holds with the level. 0 of 299 is at most 1 %, and 59 of 59 at least 95 %,
    #: with 95 % confidence.
    at_least: float
    at_most: float


def rate(count: int, of: int, level: float = LEVEL) -> Rate:
    """Return the rate with its bounds, which are 0 and 1 without a trial.

    Raises ValueError where ``count`` is not between 0 and ``of``.
    """
    if not 0 <= count <= of:
        raise ValueError(f"{count} of {of} is not a rate")
    tail = (1.0 - level) / 2.0
    return Rate(
        count, of, _low(count, of, tail), _high(count, of, tail), _low(count, of, 2 * tail), _high(count, of, 2 * tail)
    )


def _low(count: int, of: int, tail: float) -> float:
    # Quantiles of the beta distribution. scipy.stats.binomtest gives the same, but is slow to import.
    return float(special.betaincinv(count, of - count + 1, tail)) if count else 0.0


def _high(count: int, of: int, tail: float) -> float:
    return float(special.betaincinv(count + 1, of - count, 1.0 - tail)) if count < of else 1.0
