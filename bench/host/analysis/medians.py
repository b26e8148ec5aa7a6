"""Takes the median of a handful of values."""

from __future__ import annotations

import statistics
from collections.abc import Iterable


def median(values: Iterable[float]) -> float | None:
    """Return the median, None of nothing."""
    # NumPy takes ten times as long for a handful of values, and a large report has half a million handfuls.
    found = list(values)
    return float(statistics.median(found)) if found else None
