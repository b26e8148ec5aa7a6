"""Computes performance profiles: the table, ``ranking.csv``, the figure and the page all show these.

Rows are those of one device and one number of threads, and columns are chosen as for the geometric means: a mode in few
rows, such as one for training only, gets no profile, as the others' would be over those few rows, too. It does count
for the best time of a row, because a user could choose it there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bench.cell import Cell

from ..statistics.location import median
from ..statistics.performance_profile import PerformanceProfile, performance_profiles
from .comparable_times import disturbed
from .results import EXCLUDED, NOT_RUN, Result, by_row, by_track, columns_of
from .speed_ups import in_most_rows


@dataclass(frozen=True)
class TrackProfiles:
    """The profiles on one device, with one number of threads."""

    device: str
    threads: int
    #: Rows in which every column with a profile was tried, as ``Cell.row`` names them.
    rows: tuple[str, ...]
    #: {column: profile}, without the columns that have too few rows.
    columns: Mapping[str, PerformanceProfile]


def profile_tracks(results: Iterable[Result]) -> tuple[TrackProfiles, ...]:
    """Return the profiles of every track that has any, the one over most rows first."""
    found = [profile_track(own) for own in by_track(results).values()]
    return tuple(sorted((one for one in found if one.columns), key=lambda one: -len(one.rows)))


def profile_track(results: Sequence[Result]) -> TrackProfiles:
    """Return the profiles of one track, whose ``results`` have the same device and number of threads."""
    device, threads = results[0].cell.device, results[0].cell.threads
    times: dict[str, dict[str, float]] = {column: {} for column in columns_of(results)}
    for cell, step_s in common_steps(results).items():
        times[cell.column][cell.row] = step_s
    columns = in_most_rows({column: own.keys() for column, own in times.items()})
    every = dict.fromkeys(result.cell.row for result in results)
    rows = tuple(row for row in every if columns and all(row in times[column] for column in columns))
    profiles = performance_profiles({c: {row: own[row] for row in rows if row in own} for c, own in times.items()})
    return TrackProfiles(device, threads, rows, {column: profiles[column] for column in columns if rows})


def common_steps(results: Iterable[Result]) -> dict[Cell, float]:
    """Return the seconds of a step of every cell that counts in its row; a failure takes for ever.

    Each time is over the rounds before the first cell of the row stopped: cells may have stopped at different looks,
    and the machine may be slower in the rounds that some lack. A row without any time has no best, and no cell here.
    """
    found: dict[Cell, float] = {}
    for own in by_row(filter(tried, results)).values():
        ends = [max(record.round for record in one.records) for one in own if one.step is not None]
        if ends:
            found |= {one.cell: _step_s(one, min(ends)) for one in own}
    return found


def tried(result: Result) -> bool:
    """Tell whether a cell has a comparable time or is a failure: planned, run, not refused and not disturbed."""
    return result.status not in (EXCLUDED, NOT_RUN) and not result.refused and not disturbed(result)


def _step_s(result: Result, last: int) -> float:
    """Return the time over the rounds up to ``last``; over all of them where it has none of these."""
    own = [process.location.median for process in result.timed if process.record.round <= last]
    if own:
        return median(np.array(own))
    return math.inf if result.step is None else result.step.value
