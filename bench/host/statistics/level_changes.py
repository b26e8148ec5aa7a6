"""Finds when the level of a series of runs changed, by how much, and between which runs the change lies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .change_points import INDEPENDENT_PENALTY, LEAST_SD, PENALTY, SHORTEST, PositionArray, segments
from .location import NORMAL_MAD, FloatArray
from .pairs import DECIDING_LEVEL, Ratio
from .unpaired import compare_unpaired

#: A series of more runs is segmented at fewer places: all of the newest, and evenly among the others…
MOST_PLACES, NEWEST = 256, 64
#: …and each change is then placed exactly.
#: A single run may lie so many times the noise from its neighbours; one that lies further is moved there.
FURTHEST = 4.0
#: Runs on both sides that say where a run should lie.
NEIGHBOURS = 2
#: A difference counts as one of so many standard deviations at most.
MOST_DEVIATIONS = 2.0
#: With fewer runs of all rows together a correlation cannot be told from a change of level.
FEWEST_FOR_CORRELATION = 100
#: The standard deviation of the logarithm of the ratio that shows a correlation, times the root of the number of runs…
DEVIATION_OF_LOG = 1.7
#: …and how many of these are subtracted, so that chance is seldom taken for a correlation.
ERRORS = 2.0
#: With a higher correlation no level would be told from a drift.
MOST_CORRELATED = 0.9


@dataclass(frozen=True)
class LevelChange:
    """One change in a series of runs."""

    #: The first run of the new level, and the first and last run that it may be, with 99 %.
    at: int
    first: int
    last: int
    #: The new level over the one before, from the runs of both; no run is trusted to tell its own error.
    ratio: Ratio
    #: Runs of the levels before and after.
    before: int
    after: int


def level_changes(series: FloatArray) -> list[list[LevelChange]]:
    """Find the changes in each row of log times, a run in each column; none in fewer than twice ``SHORTEST`` runs.

    A change must be the clearer, the more neighbouring runs are correlated. The ratio takes runs as independent.
    """
    count, size = series.shape
    if size < 2 * SHORTEST or not count:
        return [[] for _ in range(count)]
    calm = without_single_outliers(series)
    found = segments(calm, places(size), penalty=max(PENALTY, INDEPENDENT_PENALTY * inflation(series)))
    return [_changes(row, raw, ends) for row, raw, ends in zip(calm, series, found, strict=True)]


def inflation(series: FloatArray) -> float:
    """Return how many times as much a level's mean varies as it would if runs were independent, for all rows together.

    In a machine that drifts for days, neighbouring runs are correlated. If a run keeps a share r of the error of the
    run before, differences of runs that are two apart vary 1 + r times as much as differences of neighbours, and means
    (1 + r) / (1 - r) times as much as of independent runs. A change of level is in few differences, and cut in these.
    Few runs of few rows cannot show a correlation; then it counts as none, so that clear changes are found.
    """
    if series.size < FEWEST_FOR_CORRELATION:
        return 1.0
    next_ones, second = (_spread(series[:, apart:] - series[:, :-apart]) for apart in (1, 2))
    certain = float(np.mean(np.log(second / next_ones))) - DEVIATION_OF_LOG * ERRORS / math.sqrt(series.size)
    correlation = min(max(math.exp(certain) - 1.0, 0.0), MOST_CORRELATED)
    return (1.0 + correlation) / (1.0 - correlation)


def _spread(differences: FloatArray) -> FloatArray:
    """Return the mean square of each row, without its few large values."""
    most = MOST_DEVIATIONS * NORMAL_MAD * np.median(np.abs(differences), axis=1, keepdims=True)
    return np.asarray(np.maximum(np.mean(np.minimum(differences**2, most**2), axis=1), LEAST_SD**2))


def places(size: int) -> PositionArray:
    """Return where a segment of a series of ``size`` runs may end: everywhere, if they are few."""
    if size <= MOST_PLACES:
        return np.arange(1, size + 1)
    older = np.linspace(0, size - NEWEST, MOST_PLACES - NEWEST, dtype=np.int64)[1:]
    return np.unique(np.concatenate([older, np.arange(size - NEWEST, size + 1)]))


def without_single_outliers(series: FloatArray) -> FloatArray:
    """Move runs that lie far from their neighbours nearer to them: one bad night is no change of level."""
    noise = NORMAL_MAD * np.median(np.abs(np.diff(series, axis=1)), axis=1, keepdims=True) / np.sqrt(2.0)
    padded = np.pad(series, ((0, 0), (NEIGHBOURS, NEIGHBOURS)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=1)
    middle = np.median(windows, axis=2)
    return np.asarray(np.clip(series, middle - FURTHEST * noise, middle + FURTHEST * noise))


def _changes(calm: FloatArray, raw: FloatArray, ends: list[int]) -> list[LevelChange]:
    bounds = [0, *ends]
    # Coarse places first become exact, each between its neighbours.
    for i in range(1, len(bounds) - 1):
        bounds[i] = _change_at(calm, bounds[i - 1], bounds[i + 1])[0]
    found = []
    for start, at, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        _, first, last = _change_at(calm, start, end)
        ratio = compare_unpaired(raw[at:end], raw[start:at])
        assert ratio is not None
        found.append(LevelChange(at, first, last, ratio, at - start, end - at))
    return found


def _change_at(row: FloatArray, start: int, end: int) -> tuple[int, int, int]:
    """Return the best place of one change of the mean in a part of a row, and the first and last that are likely.

    With equal prior probability for every place, and an unknown variance that does not change, the probability of a
    place falls with the residual sum of squares to the power of half the number of runs (Smith 1975).
    """
    part = row[start:end] - row[start:end].mean()
    size = len(part)
    splits = np.arange(SHORTEST, size - SHORTEST + 1)
    left = np.cumsum(part)[splits - 1]
    explained = left**2 / splits + left**2 / (size - splits)
    residual = np.maximum(float((part**2).sum()) - explained, 1e-12)
    logs = -size / 2.0 * np.log(residual)
    weights = np.exp(logs - logs.max())
    order = np.argsort(-weights)
    kept = order[: 1 + int(np.searchsorted(np.cumsum(weights[order]) / weights.sum(), DECIDING_LEVEL))]
    likely = splits[kept]
    return start + int(splits[order[0]]), start + int(likely.min()), start + int(likely.max())
