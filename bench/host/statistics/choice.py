"""Estimates what the best of several columns reaches, without the gain that the choice itself feigns."""

from __future__ import annotations

import numpy as np

from .location import FloatArray


def chosen_apart(lines: FloatArray) -> FloatArray:
    """Return the value of each process in the line that the other processes choose as the least, by their medians.

    ``lines`` has a line per column and a process per entry. The least of several noisy medians is too small on average,
    as the choice prefers lucky lines. A process that had no part in its choice has no such luck (cross-validation:
    Stone 1974). A single process chooses for itself, which flatters.
    """
    n = lines.shape[1]
    if n == 1:
        return np.asarray(lines.min(axis=0))
    others = np.array([np.delete(np.arange(n), process) for process in range(n)])
    chosen = np.median(lines[:, others], axis=2).argmin(axis=0)
    return np.asarray(lines[chosen, np.arange(n)])
