"""Searches the largest size that fits, in few attempts."""

from __future__ import annotations

from collections.abc import Callable

#: From this size on, a result within ``TOLERANCE`` of the largest is close enough.
EXACT_BELOW = 64
TOLERANCE = 0.02


def close_enough(fitting: int, failing: int) -> bool:
    """Return whether the search can stop between a size that fits and one that does not."""
    return failing - fitting <= max(1.0, TOLERANCE * fitting if fitting >= EXACT_BELOW else 1.0)


def largest_fit(fits: Callable[[int], bool], start: int, most: int) -> int:
    """Return a size that fits while a slightly larger one does not; ``most`` where that fits, 0 where none does.

    No size is tried twice. Where ``fits`` is not monotonic, the result is still a size that fitted, and the next larger
    size that was tried did not fit.
    """
    fitting, failing = 0, most + 1
    size = min(start, most)
    while not close_enough(fitting, failing):
        if fits(size):
            fitting = size
        else:
            failing = size
        # Double until something fails, halve until something fits, then meet in the middle.
        size = min(2 * fitting, most) if failing > most else (fitting + failing) // 2
    return fitting
