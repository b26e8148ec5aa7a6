"""Takes the median of a handful of values, without the time that NumPy takes to begin."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from operator import truediv


def median(values: Iterable[float]) -> float | None:
    """Return the median, None of nothing."""
    # NumPy takes ten times as long for a handful of values, and a large report has half a million handfuls.
    found = list(values)
    return float(statistics.median(found)) if found else None


def median_ratio(values: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of values over others, of which there must be at least one."""
    found = median(map(truediv, values, others))
    assert found is not None
    return found
