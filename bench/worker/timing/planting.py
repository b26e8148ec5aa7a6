"""Computes how many uncounted steps a sample needs to be slower by a given share, for validating the verdicts."""

from __future__ import annotations

#: The planted slowdown may differ from the requested one by this share of it.
PRECISION = 0.02
#: A sample may become this many times as long to reach that precision.
MOST_STRETCH = 8


def extra_steps(steps: int, slowdown: float) -> int:
    """Return how many uncounted steps a sample of ``steps`` counted steps runs."""
    return round(steps * slowdown)


def stretched(steps: int, slowdown: float) -> int:
    """Return the least number of steps, from ``steps`` on, at which whole extra steps give ``slowdown``.

    When none up to ``MOST_STRETCH`` times ``steps`` is precise enough, return the closest.
    """
    if not slowdown:
        return steps
    best, closest = steps, float("inf")
    for longer in range(steps, MOST_STRETCH * steps + 1):
        off = abs(extra_steps(longer, slowdown) / longer - slowdown)
        if off <= PRECISION * slowdown:
            return longer
        if off < closest:
            best, closest = longer, off
    return best
