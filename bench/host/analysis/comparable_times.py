"""Says which times may be compared in a ranking, and where the processes of cells that took turns lie."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from ..statistics.location import median
from ..statistics.ranking import LogLocations, Results
from .quality import Quality
from .results import Result

#: {column: {row: its result there}}
ByColumn = Mapping[str, Mapping[str, Result]]


def comparable(result: Result | None) -> bool:
    """Tell whether a cell has a time that may be compared: not one that other programs disturbed."""
    return result is not None and result.step is not None and not result.refused and not disturbed(result)


def disturbed(result: Result) -> bool:
    return result.quality is Quality.DISTURBED


def log_locations(by_column: ByColumn) -> Results:
    """Return where the processes of every comparable cell lie, by column and row."""
    kept = {column: {row: one for row, one in own.items() if comparable(one)} for column, own in by_column.items()}
    starts = _steady_starts(one for own in kept.values() for one in own.values())
    return {column: {row: _log_locations(one, starts) for row, one in own.items()} for column, own in kept.items()}


def _steady_starts(results: Iterable[Result]) -> dict[tuple[str, Hashable], int]:
    """Return from which turn on all processes of a row and round are steady, by row and the key of the processes."""
    starts: dict[tuple[str, Hashable], int] = {}
    for result in results:
        for key, process in result.turns.items():
            together = (result.cell.row, key)
            starts[together] = max(process.steady_turn, starts.get(together, 0))
    return starts


def _log_locations(result: Result, starts: Mapping[tuple[str, Hashable], int]) -> LogLocations:
    """Return where each process lies, in the same turns for all that took turns, as in the ratios of the table."""
    found = {}
    for key, process in result.turns.items():
        steady = process.log_s[process.turns >= starts[result.cell.row, key]]
        found[key] = median(steady if len(steady) else process.log_s)
    return found
