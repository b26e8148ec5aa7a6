"""Compares every cell with the baseline of its row as a speed-up, and averages the speed-ups of each column.

A number that must not be used is not in here: times that other programs disturbed, and speed-ups over such a time.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from bench.cell import Cell

from ..statistics.bootstrap import Estimate
from ..study.baseline import CHOSEN, PREVIOUS
from .baselines import Baselines
from .quality import Quality
from .results import Result

#: A mean over fewer rows describes those rows better than a column.
FEWEST_ROWS = 3
#: Means are over at least this share of the rows. A column that would leave fewer, such as a mode for inference only,
#: gets none: the others' means would be without any training, too, and yet read as if they were about all rows.
LEAST_SHARE = 2.0 / 3.0


@dataclass(frozen=True)
class ComparedCell:
    """What one column has in one row."""

    result: Result
    #: None where the cell has no time.
    grade: Quality | None
    #: Seconds per step; None where the cell has none, or none that can be used.
    time: Estimate | None
    #: How many times as fast as the baseline, exactly 1 for the baseline itself; None where they cannot be compared.
    speed_up: Estimate | None
    #: Whether there is a number that must not be shown.
    withheld: bool
    #: Whether it is what others are compared with, or has nothing to be compared with, and shows its time.
    is_base: bool = False

    @property
    def shows_time(self) -> bool:
        """Whether tables show the time: of a base, and of a cell whose baseline has no time in this row."""
        return self.time is not None and (self.is_base or (self.speed_up is None and not self.withheld))


@dataclass(frozen=True)
class Track:
    """The geometric means over the rows with one device and one number of threads; other rows are averaged apart."""

    device: str
    threads: int
    #: {column: mean}; empty where the track has too few rows.
    means: Mapping[str, float]
    #: How many rows the means are over, …
    rows: int
    #: …and how many the track has.
    of_rows: int


Grades = Mapping[Cell, Quality | None]
#: {column: its cell of a row}
ComparedCells = Mapping[str, ComparedCell]


def compare_row(row: Sequence[Result], bases: Baselines, baseline: str | None, grades: Grades) -> ComparedCells:
    """Compare the results of one row with what each is compared with."""
    found = {}
    # A version whose predecessor is not in this row is compared in other rows: here it is no baseline of itself.
    newer = {cell.column for cell in bases} if baseline == PREVIOUS else set[str]()
    for result in row:
        base, column = bases.get(result.cell), result.cell.column
        # Of the oldest version, and the best of a row, the time is shown.
        is_base = base is None and baseline in (*CHOSEN, column) and column not in newer
        grade = None if base is None else grades[base.cell]
        found[column] = _compare(result, grades[result.cell], grade, is_base)
    return found


def _compare(result: Result, grade: Quality | None, base: Quality | None, is_baseline: bool) -> ComparedCell:
    if grade is None or not grade.usable:
        return ComparedCell(result, grade, None, None, withheld=grade is not None, is_base=is_baseline)
    if is_baseline:
        return ComparedCell(
            result, grade, result.step, Estimate(1.0, 1.0, 1.0, len(result.timed)), withheld=False, is_base=True
        )
    if base is not None and not base.usable:
        return ComparedCell(result, grade, result.step, None, withheld=True)
    faster = None if result.ratio is None else inverse(result.ratio.estimate)
    return ComparedCell(result, grade, result.step, faster, withheld=False)


def geometric_means(rows: Iterable[ComparedCells], columns: Sequence[str]) -> tuple[dict[str, float], int]:
    """Return the geometric means of the columns that have most rows, over the rows that these have in common.

    The second value is the number of those rows. There are no means over fewer than ``FEWEST_ROWS`` rows or
    ``LEAST_SHARE`` of all rows, nor of one column. A row without any speed-up, as its baseline failed, is one of all.
    """
    found = [{column: log for column in columns if (log := _log(row, column)) is not None} for row in rows]
    own = {column: {i for i, row in enumerate(found) if column in row} for column in columns}
    wide = in_most_rows(own, of=len(found))
    whole = [row for row in found if row and all(column in row for column in wide)]
    if len(whole) < FEWEST_ROWS or len(wide) < 2:
        return {}, len(whole)
    return {column: math.exp(math.fsum(row[column] for row in whole) / len(whole)) for column in wide}, len(whole)


def in_most_rows(rows: Mapping[str, Set[Hashable]], kept: str | None = None, *, of: int | None = None) -> list[str]:
    """Choose the columns whose common rows are at least ``LEAST_SHARE`` of all, given the rows that each has.

    ``of`` is the number of all rows; without it, those that any column has are all.

    Left out are those with fewer rows, and then one by one the column without which the others have most rows in
    common: of several the one with the fewest rows, and of these the last; never ``kept``. A column that was left out
    early comes back where it fits beside those that stay.
    """
    count = len(set[Hashable]().union(*rows.values())) if of is None else of
    fewest = max(LEAST_SHARE * count, min(FEWEST_ROWS, count))
    wide = [column for column, own in rows.items() if own and (len(own) >= LEAST_SHARE * count or column == kept)]
    chosen = list(wide)

    def common(columns: Iterable[str]) -> int:
        return len(set.intersection(*(set(rows[column]) for column in columns)))

    while len(chosen) > 1 and common(chosen) < fewest:
        others = [column for column in reversed(chosen) if column != kept]
        left = {column: common(one for one in chosen if one != column) for column in others}
        chosen.remove(max(others, key=lambda column: (left[column], -len(rows[column]))))
    for column in wide:
        if column not in chosen and common((*chosen, column)) >= fewest:
            chosen.append(column)
    return sorted(chosen, key=wide.index)


def average_tracks(rows: Sequence[ComparedCells], columns: Sequence[str]) -> tuple[Track, ...]:
    """Return the means of every track that has any, the one over most rows first."""
    tracks: dict[tuple[str, int], list[ComparedCells]] = {}
    for row in rows:
        cell = next(iter(row.values())).result.cell
        tracks.setdefault((cell.device, cell.threads), []).append(row)
    found = []
    for (device, threads), own in tracks.items():
        means, whole = geometric_means(own, columns)
        if means:
            found.append(Track(device, threads, means, whole, len(own)))
    return tuple(sorted(found, key=lambda track: -track.rows))


def _log(row: ComparedCells, column: str) -> float | None:
    speed_up = row[column].speed_up if column in row else None
    return None if speed_up is None else math.log(speed_up.value)


def inverse(ratio: Estimate) -> Estimate:
    """Turn a ratio of times into a speed-up, or back."""
    low, high = (None if bound is None else 1.0 / bound for bound in (ratio.high, ratio.low))
    return Estimate(1.0 / ratio.value, low, high, ratio.n)
