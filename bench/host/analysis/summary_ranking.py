"""Ranks the columns of a run's summary over the rows of one device and number of threads, as reports rank them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from ..statistics import ranking
from ..statistics.bootstrap import Estimate
from ..statistics.location import FloatArray, median
from ..statistics.pairs import estimate_ratio
from ..storage.run_summary import CellSummary, RunSummary
from .speed_ups import in_most_rows, inverse
from .summaries import is_usable


@dataclass(frozen=True)
class SummaryColumn:
    """One column in one track."""

    column: str
    #: Geometric mean over the rows of its speed-ups over the track's reference; None where it is not ranked.
    speed_up: Estimate | None
    #: The ranks it may have, the best one first; None where it is not ranked.
    ranks: tuple[int, int] | None
    #: Geometric mean of its times over those of the best column of each row; None where it is not ranked.
    of_best: float | None
    #: The rows in which it is the best of all columns that have a time there.
    fastest_in: int


@dataclass(frozen=True)
class SummaryTrack:
    """The columns on one device with one number of threads, the fastest first, and then those that are not ranked."""

    device: str
    threads: int
    #: The column that speed-ups are over: the run's baseline, if it is one of the columns.
    reference: str
    columns: tuple[SummaryColumn, ...]
    #: The rows in which every ranked column has a time; only these count.
    rows: tuple[str, ...]
    #: The other rows.
    incomplete: tuple[str, ...]


@dataclass(frozen=True)
class _Row:
    """The logarithms of times of one row, by column, all over the same unit."""

    #: Of each process; those with one number took turns, unless a cell lost a process.
    processes: dict[str, ranking.LogLocations]
    #: Of each cell, as tables have it.
    cells: dict[str, float]


def rank_tracks(run: RunSummary, chosen: Iterable[CellSummary]) -> list[SummaryTrack]:
    """Rank the ``chosen`` cells of a run, track by track: the one with most rows first.

    A track without two columns that have times in the same rows is left out.
    """
    wanted = {cell.key for cell in chosen}
    tracks: dict[tuple[str, int], dict[str, list[CellSummary]]] = {}
    for cell in run.cells:
        tracks.setdefault((_device(cell), cell.threads), {}).setdefault(cell.row, []).append(cell)
    found = []
    for (device, threads), cells in tracks.items():
        rows = {name: _row(own, run.facts.baseline, wanted) for name, own in cells.items()}
        kept = {name: row for name, row in rows.items() if row.cells}
        ranked = _rank_track(device, threads, kept, run.facts.baseline)
        if ranked is not None:
            found.append(ranked)
    return sorted(found, key=lambda one: -len(one.rows))


def _device(cell: CellSummary) -> str:
    """Return the device, which is the fourth part of a row's name; empty for a name of another form."""
    return "".join(cell.row.split("/")[3:4])


def _row(cells: Sequence[CellSummary], baseline: str | None, wanted: Collection[tuple[str, str, int]]) -> _Row:
    """Return the times of a row over that of one cell, by pairs of processes.

    They are seconds where no such cell has a usable time: where the run has no baseline, or it failed in this row, or
    every version is compared with the one before.
    """
    timed = {cell.column: cell for cell in cells if is_usable(cell)}
    bases = {cell.base or baseline for cell in timed.values() if cell.log_ratios}
    base = timed.get(bases.pop() or "") if len(bases) == 1 else None
    most = max((len(cell.log_ratios) for cell in timed.values()), default=0)
    logs: dict[str, FloatArray] = {}
    levels: dict[str, float] = {}
    for column, cell in timed.items():
        if cell.key not in wanted:
            continue
        if base is None:
            logs[column] = np.log(cell.step_s)
            levels[column] = median(logs[column])
        elif cell is base:
            logs[column], levels[column] = np.zeros(most), 0.0
        elif cell.log_ratios:
            logs[column] = np.array(cell.log_ratios)
            levels[column] = math.log(estimate_ratio(logs[column]).value)
    return _Row({column: dict(enumerate(own.tolist())) for column, own in logs.items()}, levels)


def _rank_track(device: str, threads: int, rows: Mapping[str, _Row], baseline: str | None) -> SummaryTrack | None:
    """Rank the columns of one track over the rows that they have in common; None where there is nothing to rank."""
    columns = list(dict.fromkeys(column for row in rows.values() for column in row.cells))
    if len(columns) < 2:
        return None
    own_rows = {column: {name for name, row in rows.items() if column in row.cells} for column in columns}
    reference, entrants = _entrants(own_rows, baseline)
    results = {
        column: {name: row.processes[column] for name, row in rows.items() if column in row.cells}
        for column in entrants
    }
    found = ranking.rank(results, reference) if len(entrants) > 1 else None
    if found is None:
        return None
    cells = [rows[name].cells for name in found.support]
    order = [*found.standings, *(column for column in columns if column not in found.standings)]
    return SummaryTrack(
        device,
        threads,
        reference,
        tuple(_column(column, found.standings.get(column), cells, reference) for column in order),
        found.support,
        tuple(name for name in rows if name not in found.support),
    )


def _entrants(rows: Mapping[str, Set[str]], baseline: str | None) -> tuple[str, list[str]]:
    """Choose the columns to rank, and the one that the others are compared with.

    It is the baseline, if others have enough rows in common with it, else the column with most rows: geometric means
    have the same order whichever it is.
    """
    if baseline is not None and baseline in rows and len(entrants := in_most_rows(rows, kept=baseline)) > 1:
        return baseline, entrants
    reference = max(rows, key=lambda column: len(rows[column]))
    return reference, in_most_rows(rows, kept=reference)


def _column(
    column: str, standing: ranking.Standing | None, rows: Sequence[Mapping[str, float]], reference: str
) -> SummaryColumn:
    fastest = sum(column in row and row[column] == min(row.values()) for row in rows)
    if standing is None:
        return SummaryColumn(column, None, None, None, fastest)
    # The mean of the numbers of the table, as in reports: the ranking's own is over common processes alone.
    speed_up = math.exp(-_mean([row[column] - row[reference] for row in rows]))
    of_best = math.exp(_mean([row[column] - min(row.values()) for row in rows]))
    estimate = replace(inverse(standing.ratio), value=speed_up)
    return SummaryColumn(column, estimate, (standing.best_rank, standing.worst_rank), of_best, fastest)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
