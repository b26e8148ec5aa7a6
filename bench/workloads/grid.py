"""Computes on square grids that are surrounded by zeros: the neighbours of points, and the presets of workloads."""

from __future__ import annotations

import numpy as np

SIZES = {
    "check": {"side": 12, "iterations": 6},
    "tiny": {"side": 64, "iterations": 20},
    "small": {"side": 512, "iterations": 100},
    "medium": {"side": 2048, "iterations": 100},
    "large": {"side": 4096, "iterations": 100},
}
#: The most iterations that an unrolled loop does in a turn. Graphs of all 100 compiled for minutes (torch.compile).
MOST_UNROLLED = 10


def unrolled(iterations):
    """Return how many iterations a turn of an unrolled loop does: a divisor of ``iterations``, with two turns at least.

    Two, so that the check size has a loop around what is unrolled, too.
    """
    return max(each for each in range(1, MOST_UNROLLED + 1) if iterations % each == 0 and each <= iterations // 2)


def neighbours(grid):
    """Add up the four neighbours of each point."""
    padded = np.pad(grid, 1)
    return padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]


def batch(size, random, source=None):
    """Draw a grid (side, side), standard normal."""
    return (random.standard_normal((size["side"], size["side"])).astype(np.float32),)


def items(size):
    return size["iterations"]


def points(size):
    """Count the points that all iterations visit."""
    return float(size["iterations"] * size["side"] ** 2)


def compulsory_bytes(size, itemsize):
    """Count one grid read and one written, since a cache may hold them between iterations, and one parameter."""
    return float(itemsize) * (2 * size["side"] ** 2 + 1)
