"""Computes performance profiles: in what share of rows a column is within a factor of the best (Dolan & Moré 2002)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PerformanceProfile:
    """The factors by which one column was slower than the best of each row, ascending; a failure is infinity."""

    factors: tuple[float, ...]

    def share(self, factor: float) -> float:
        """Return the share of rows in which the column needed no more than ``factor`` times the best time."""
        return sum(one <= factor for one in self.factors) / len(self.factors)

    @property
    def solved(self) -> float:
        """Share of rows in which the column has a result at all."""
        return sum(math.isfinite(one) for one in self.factors) / len(self.factors)


def performance_profiles(times: Mapping[str, Mapping[str, float]]) -> dict[str, PerformanceProfile]:
    """Return the profile of each column from its time per row; a row that is missing, or infinite, is a failure.

    Only rows in which some column has a result count, since others have no best time. Without such a row there are no
    profiles.
    """
    rows = dict.fromkeys(row for own in times.values() for row, time in own.items() if math.isfinite(time))
    if not rows:
        return {}
    table = np.array([[own.get(row, math.inf) for row in rows] for own in times.values()])
    factors = np.sort(table / table.min(axis=0), axis=1)
    return {column: PerformanceProfile(tuple(line)) for column, line in zip(times, factors.tolist(), strict=True)}
