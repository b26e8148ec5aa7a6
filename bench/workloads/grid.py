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
