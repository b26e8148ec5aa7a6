"""Knows how a slowdown is planted: a program does more steps than are counted, so the work and the time are real."""

from __future__ import annotations

#: What is planted may differ from what was asked for by this share of it.
PRECISION = 0.02
#: To come that close, a sample may become this many times as long.
MOST_STRETCH = 8


def extra_steps(steps: int, slowdown: float) -> int:
    """Return how many steps a sample of ``steps`` does beyond those that count."""
    return round(steps * slowdown)


def stretched(steps: int, slowdown: float) -> int:
    """Return the steps of a sample, at least ``steps``, in which whole extra steps make ``slowdown``.

    Where no sample of a bearable length does, the closest is returned.
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
