"""Ranks the versions of a track by their best modes: in every row, the one that is fastest there.

A fixed mode may be the best on average and bad in some rows, for which a user would choose another one.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from bench.cell import Cell
from bench.registry import BUILT_IN

from ..statistics import ranking
from ..statistics.bootstrap import Estimate
from ..statistics.choice import chosen_apart
from ..statistics.ranking import LogLocations
from .comparable_times import ByColumn, comparable, log_locations
from .speed_ups import FEWEST_ROWS, in_most_rows


@dataclass(frozen=True)
class BestOfVersion:
    """An environment with the best of its modes in every row."""

    environment: str
    #: The columns that it could choose from.
    columns: tuple[str, ...]
    #: Geometric mean of its times over the baseline's; ``n`` counts rows.
    ratio: Estimate
    #: Whether it may be the fastest, by the interval of its rank.
    leads: bool


@dataclass(frozen=True)
class BestModes:
    """The versions, the fastest first."""

    versions: tuple[BestOfVersion, ...]
    #: In how many rows each has a time; only these count.
    rows: int
    #: Rows of a single process, which both chooses the mode and gives its time.
    chosen_by_itself: int


def choose_modes(by_column: ByColumn, baseline: str) -> BestModes | None:
    """Rank the versions over {column: {row: result}}; None without several versions, or where none has several modes.

    Every process is compared in the mode that the other processes of its row choose.
    """
    kept = {
        column: {row: one for row, one in own.items() if comparable(one) and _eligible(one.cell, baseline)}
        for column, own in by_column.items()
    }
    modes: dict[str, list[str]] = {}
    for column, own in kept.items():
        if own.keys() & kept[baseline].keys():
            modes.setdefault(environment_of(column), []).append(column)
    rows = {name: kept[baseline].keys() & set().union(*(kept[one] for one in own)) for name, own in modes.items()}
    names = in_most_rows(rows, kept=environment_of(baseline))
    if len(names) < 2 or all(len(modes[name]) == 1 for name in names):
        return None
    locations = log_locations({column: kept[column] for name in names for column in modes[name]})
    best = {name: _best(modes[name], locations, baseline) for name in names}
    found = ranking.rank({**best, baseline: locations[baseline]}, baseline)
    if found is None or len(found.support) < FEWEST_ROWS:
        return None
    versions = tuple(
        BestOfVersion(name, tuple(modes[name]), standing.ratio, standing.best_rank == 1)
        for name, standing in found.standings.items()
        if name != baseline
    )
    alone = [
        row
        for row in found.support
        if any(len(best[name][row]) == 1 < sum(row in locations[one] for one in modes[name]) for name in names)
    ]
    return BestModes(versions, len(found.support), len(alone))


def environment_of(column: str) -> str:
    return column.partition(":")[0]


def _eligible(cell: Cell, baseline: str) -> bool:
    return cell.column == baseline or computes_as_asked(cell)


def computes_as_asked(cell: Cell) -> bool:
    """Tell whether a mode computes in the precision of its row: autocast and int8 do not, and are no better mode."""
    return _computes_in(cell.framework, cell.mode) in ("", cell.precision)


@functools.cache
def _computes_in(framework: str, mode: str) -> str:
    try:
        return BUILT_IN.facts(framework).mode(mode).computes_in
    except (KeyError, ValueError):
        # Other people's frameworks and modes need not be here any more.
        return ""


def _best(columns: Sequence[str], locations: ranking.Results, baseline: str) -> dict[str, LogLocations]:
    """Return where the processes of a version lie in its best mode, row by row."""
    found: dict[str, LogLocations] = {}
    for row in locations[baseline]:
        paired = {
            column: ranking.common_keys(locations, [column, baseline], row)
            for column in columns
            if locations[column].get(row)
        }
        most = max(map(len, paired.values()), default=0)
        # A mode with half of the processes or fewer would leave the others as few.
        own = [column for column, keys in paired.items() if 2 * len(keys) > most]
        keys = ranking.common_keys(locations, [*own, baseline], row)
        if own and keys:
            found[row] = _choose([locations[column][row] for column in own], locations[baseline][row], keys)
    return found


def _choose(own: Sequence[LogLocations], base: LogLocations, keys: Sequence[Hashable]) -> LogLocations:
    zero = np.array([base[key] for key in keys])
    lines = np.array([[one[key] for key in keys] for one in own])
    return dict(zip(keys, (zero + chosen_apart(lines - zero)).tolist(), strict=True))
