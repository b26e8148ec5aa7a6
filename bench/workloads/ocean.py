"""Holds what the kernels of ocean models share: the operations that a formula needs beside arithmetic, and the presets.

A formula is written once, over the slices and operators that all arrays have, and takes ``Operations``. Arrays have the
axes level, row and column.
"""

from __future__ import annotations

from typing import Any, Callable, NamedTuple, Optional

import numpy as np

SIZES = {
    "check": {"levels": 4, "height": 7, "width": 8},
    "tiny": {"levels": 8, "height": 32, "width": 32},
    "small": {"levels": 16, "height": 128, "width": 128},
    "medium": {"levels": 32, "height": 256, "width": 256},
    "large": {"levels": 64, "height": 512, "width": 512},
}
PRECISIONS = ("float32", "float64")


class Operations(NamedTuple):
    """The operations of a framework on its arrays."""

    sqrt: Callable[[Any], Any]
    log1p: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    absolute: Callable[[Any], Any]
    #: Of an array and a number.
    at_least: Callable[[Any, float], Any]
    at_most: Callable[[Any, float], Any]
    #: Of a condition and two arrays.
    where: Callable[[Any, Any, Any], Any]
    #: Of a list of arrays and an axis.
    concatenate: Callable[[Any, int], Any]
    stack: Callable[[Any, int], Any]
    #: Of an array: put a level of zeros before it and one after it. Without this, they are concatenated.
    framed: Optional[Callable[[Any], Any]] = None


NUMPY = Operations(
    np.sqrt, np.log1p, np.tanh, np.abs, np.maximum, np.minimum, np.where, np.concatenate, np.stack
)  # fmt: skip


def points(size):
    return size["levels"] * size["height"] * size["width"]


def inner_points(size):
    return size["levels"] * (size["height"] - 4) * (size["width"] - 4)


def items(size):
    return points(size)


def uniform(random, shape, low, high):
    """Draw uniform float32 values."""
    return random.uniform(low, high, shape).astype(np.float32)


def water(size, random):
    """Draw where there is water: 1, below it 0. Levels begin at the bottom; every column has land below some level."""
    bottom = random.randint(0, size["levels"], (size["height"], size["width"]))
    return (np.arange(size["levels"])[:, None, None] >= bottom).astype(np.float32)


def along(array, axis, start, stop):
    """Take a slice along one axis."""
    return array[(slice(None),) * axis + (slice(start, stop),)]


def inside(array):
    """Leave out two rows and columns at each side."""
    return array[:, 2:-2, 2:-2]
