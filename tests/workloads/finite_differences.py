"""Computes derivatives by finite differences, to test the backward passes of the references."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def central_slopes(function: Callable[[], float], array: np.ndarray, step: float) -> np.ndarray:
    """Differentiate ``function`` by central differences in every element of ``array``, which it reads."""
    found = np.empty_like(array)
    for index in np.ndindex(*array.shape):
        kept = array[index]
        array[index] = kept + step
        above = function()
        array[index] = kept - step
        below = function()
        array[index] = kept
        found[index] = (above - below) / (2 * step)
    return found
