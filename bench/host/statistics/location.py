"""Computes the median and quantiles of the samples of a process, and the spread between processes of a cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

#: Makes the median absolute deviation of normal values their standard deviation (Rousseeuw & Croux 1993).
NORMAL_MAD = 1.4826
#: The quantiles of a location.
SHARES = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


def median(values: FloatArray) -> float:
    """Return the same as ``np.median`` of at least one number, in a tenth of its time for the samples of a process."""
    ascending = np.sort(values)
    return float((ascending[(len(ascending) - 1) // 2] + ascending[len(ascending) // 2]) / 2.0)


def medians(rows: FloatArray) -> list[float]:
    """Return the median of each row."""
    ascending, count = np.sort(rows, axis=1), rows.shape[1]
    found: list[float] = ((ascending[:, (count - 1) // 2] + ascending[:, count // 2]) / 2.0).tolist()
    return found


@dataclass(frozen=True)
class Location:
    """Where the samples of one process lie, in their unit. The median is what is published."""

    n: int
    q10: float
    q25: float
    median: float
    q75: float
    #: Compared between two cells on its own: a low quantile, or the median, hides differences in the tail.
    p90: float

    @property
    def spread(self) -> float:
        """Interquartile range relative to the median."""
        return (self.q75 - self.q25) / self.median


def quantiles(ascending: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the same as ``np.quantile`` of ascending values along the last axis, in a tenth of its time."""
    last = ascending.shape[-1] - 1
    positions = last * shares
    below = positions.astype(np.intp)
    lower, upper = ascending[..., below], ascending[..., np.minimum(below + 1, last)]
    return np.asarray((upper - lower) * (positions - below) + lower)


def locate(samples: FloatArray) -> Location:
    """Locate the samples of one process; raise ValueError where there are none, or one is not positive."""
    return locate_each(samples[np.newaxis])[0]


def locate_each(samples: FloatArray) -> list[Location]:
    """Locate the samples of processes that have equally many, a row each; as ``locate`` does."""
    count = samples.shape[1]
    if not count:
        raise ValueError("a process without samples has no location")
    if not samples.min() > 0:
        raise ValueError(f"a process has a sample of {samples.min()!r}; times are positive")
    return [Location(count, *row) for row in quantiles(np.sort(samples, axis=1), SHARES).tolist()]


def spread_between(locations: FloatArray) -> float | None:
    """Return the normalised median absolute deviation of the processes' locations relative to their median.

    None for fewer than two processes.
    """
    if len(locations) < 2:
        return None
    middle = median(locations)
    return NORMAL_MAD * median(np.abs(locations - middle)) / middle
