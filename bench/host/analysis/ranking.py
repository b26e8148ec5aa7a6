"""Knows how columns are ranked over all rows that were measured alike: on one device, with as many threads."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..reporting.tables.rows import columns_of, facets, row_name, varying
from ..reporting.tables.table import shorten
from ..reporting.words.numbers import count
from ..statistics import ranking
from ..statistics.performance_profile import Profile, performance_profiles
from ..storage.manifest import Manifest
from .fairness import enumerate_names
from .results import EXCLUDED, NOT_RUN, Result
from .run_analysis import Analysis

FEWEST_COLUMNS, FEWEST_ROWS = 2, 3
#: A profile is shown at these multiples of the best time of a row.
FACTORS = (1.0, 1.25, 1.5, 2.0, 5.0, 10.0)
#: Characters of a list of rows; the CSV files have everything.
LIST_LENGTH = 600


@dataclass(frozen=True)
class Place:
    """Where one column stands in one contest; without a standing it was not ranked."""

    column: str
    device: str
    threads: int
    standing: ranking.Standing | None
    #: Over the rows in which every column was tried; None without such a row.
    profile: Profile | None
    is_baseline: bool


@dataclass(frozen=True)
class Contest:
    """The columns on one device with one number of threads."""

    name: str
    places: tuple[Place, ...]
    #: What the ranking and the profiles rest on, in words.
    remark: str
    #: Why there is no ranking; empty where there is one.
    why: str = ""


@dataclass(frozen=True)
class Ranked:
    """All contests of a run."""

    contests: tuple[Contest, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(place for contest in self.contests for place in contest.places)

    @property
    def remark(self) -> str:
        """Say why there is no ranking, where there is none."""
        return " ".join(f"No ranking for {contest.name}: {contest.why}." for contest in self.contests if contest.why)


def rank(analysis: Analysis, manifest: Manifest) -> Ranked:
    """Rank the columns of every contest; without a baseline there is none."""
    contests: dict[tuple[str, int], list[Result]] = {}
    for result in analysis.results:
        contests.setdefault((result.cell.device, result.cell.threads), []).append(result)
    if manifest.study.baseline is None:
        return Ranked(())
    shown = varying(analysis.results)
    return Ranked(tuple(_hold(results, manifest.study.baseline, shown) for results in contests.values()))


def comparable(result: Result | None) -> bool:
    """Tell whether a cell has a time that may be compared."""
    return result is not None and result.step is not None and result.refused is None


def tried(result: Result | None) -> bool:
    """Tell whether a cell without a comparable time is a failure: not when nobody let it try."""
    return result is not None and result.status not in (EXCLUDED, NOT_RUN) and result.refused is None


def _hold(results: Sequence[Result], baseline: str, shown: Sequence[bool]) -> Contest:
    """Hold one contest; rows are known by their names."""
    cell = results[0].cell
    name = ", ".join(facets(cell)[3:])
    places: dict[str, dict[str, Result]] = {column: {} for column in columns_of(results)}
    for result in results:
        places[result.cell.column][row_name(result.cell, shown)] = result
    entrants = choose_entrants(places, baseline)
    starts = _steady_starts(result for column in entrants for result in places[column].values() if comparable(result))
    locations = {
        column: {row: _log_locations(result, starts) for row, result in places[column].items() if comparable(result)}
        for column in entrants
    }
    found = ranking.rank(locations, baseline) if baseline in entrants else None
    why = _lack(entrants, baseline, found)
    if found is None or why:
        return Contest(name, (), "", why)
    tried_columns, tried_rows = _tried(places)
    profiles = performance_profiles({c: {row: _step_s(places[c][row]) for row in tried_rows} for c in tried_columns})
    order = [*found.standings, *(column for column in places if column not in found.standings)]
    return Contest(
        name,
        tuple(
            Place(c, cell.device, cell.threads, found.standings.get(c), profiles.get(c), c == baseline) for c in order
        ),
        _describe(name, found, places, tried_rows),
    )


def choose_entrants(places: Mapping[str, Mapping[str, Result]], baseline: str) -> list[str]:
    """Choose the columns to rank: those that have a time, less the ones for which too few rows would remain."""
    rows = {column: {row for row, result in own.items() if comparable(result)} for column, own in places.items()}
    entrants = [column for column in places if rows[column]]
    while len(entrants) > FEWEST_COLUMNS and len(set.intersection(*(rows[c] for c in entrants))) < FEWEST_ROWS:
        others = [column for column in entrants if column != baseline]
        entrants.remove(min(others, key=lambda column: len(rows[column])))
    return entrants


def _lack(entrants: Sequence[str], baseline: str, found: ranking.Ranking | None) -> str:
    if baseline not in entrants:
        return f"the baseline {baseline} has no result"
    support = len(found.support) if found else 0
    if len(entrants) >= FEWEST_COLUMNS and support >= FEWEST_ROWS:
        return ""
    return (
        f"it takes {FEWEST_COLUMNS} columns with {FEWEST_ROWS} rows in common, and {count(len(entrants), 'column')} "
        f"with {count(support, 'row')} in common {'has' if len(entrants) == 1 else 'have'} a result"
    )


def _tried(places: Mapping[str, Mapping[str, Result]]) -> tuple[list[str], list[str]]:
    """Return the columns that were tried in any row, and the rows in which all of those were."""
    columns = [column for column, own in places.items() if any(map(tried, own.values()))]
    rows = dict.fromkeys(row for own in places.values() for row in own)
    return columns, [row for row in rows if all(tried(places[column].get(row)) for column in columns)]


def _step_s(result: Result) -> float:
    return math.inf if result.step is None else result.step.value


def _steady_starts(results: Iterable[Result]) -> dict[tuple[str, Hashable], int]:
    """Return from which turn on all processes of each sitting are steady; sittings are known by row and key."""
    starts: dict[tuple[str, Hashable], int] = {}
    for result in results:
        for key, process in result.turns.items():
            sitting = (result.cell.row, key)
            starts[sitting] = max(process.steady_turn, starts.get(sitting, 0))
    return starts


def _log_locations(result: Result, starts: Mapping[tuple[str, Hashable], int]) -> ranking.LogLocations:
    """Return where each process lies, in the same turns for all that sat together, as in the ratios of the table."""
    found = {}
    for key, process in result.turns.items():
        steady = process.log_s[process.turns >= starts[result.cell.row, key]]
        found[key] = float(np.median(steady if len(steady) else process.log_s))
    return found


def _describe(
    name: str, found: ranking.Ranking, places: Mapping[str, Mapping[str, Result]], profiled: Sequence[str]
) -> str:
    """Say which rows and columns count, and why others do not."""
    text = f"On {name}: ranked on {count(len(found.support), 'row')} that all have in common"
    text += f" ({shorten(enumerate_names(found.support), LIST_LENGTH)})."
    rows = dict.fromkeys(row for _, row in found.missing)
    clauses = [f"{row} (no processes of all columns took turns)" for row in found.unpaired]
    for row in rows:
        reasons = [f"{c}: {_status(places[c].get(row))}" for c, missing in found.missing if missing == row]
        clauses.append(f"{row} ({', '.join(reasons)})")
    if clauses:
        text += f" Left out: {shorten('; '.join(clauses), LIST_LENGTH)}."
    unranked = [column for column in places if column not in found.standings]
    if unranked:
        text += f" Not ranked, as too few rows would remain in common: {enumerate_names(unranked)}."
    return f"{text} Profiles: over {count(len(profiled), 'row')} in which all were tried."


def _status(result: Result | None) -> str:
    if result is None:
        return "not planned"
    return "settings differ" if result.refused else result.status
