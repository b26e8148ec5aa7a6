"""Chooses what the figure of speed-ups has room for: the rows, and in them columns or the best modes of versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...analysis.best_modes import computes_as_asked, environment_of
from ...analysis.speed_ups import ComparedCell
from ...study.baseline import PREVIOUS
from ..tables.dispensability import best_of_versions, dispensability
from ..tables.speedup_values import ComparedRow, SpeedUps
from ..words.labels import Label, names_of_versions
from ..words.language import _, ngettext
from ..words.terms import enumerate_names
from .legend import incomplete
from .rows import most_rows, most_wide_rows
from .style import MOST_COLUMNS

#: Letters of a name in the legend, in which the modes of a version are listed where they fit.
LISTED, LISTED_WIDE = 48, 60


@dataclass(frozen=True)
class Series:
    """What is drawn with one marker: a column, or a version in the fastest of several modes in each row."""

    #: The column, or the environment of the version.
    key: str
    columns: tuple[str, ...]
    #: Without a mode where there are several.
    label: Label

    @property
    def chosen(self) -> bool:
        return len(self.columns) > 1

    def fastest(self, row: ComparedRow) -> ComparedCell | None:
        """Return the fastest cell that has a speed-up in a row; a lone baseline has nothing to compare."""
        cells = [row.cells[column] for column in self.columns if column in row.cells]
        cells = [cell for cell in cells if not self.chosen or eligible(cell)]
        compared = [
            (cell.speed_up.value, number)
            for number, cell in enumerate(cells)
            if cell.speed_up is not None and (self.chosen or not cell.is_base)
        ]
        return cells[max(compared)[1]] if compared else None

    def name(self, found: SpeedUps, letters: int) -> str:
        """Name it in the legend; the modes are listed where ``letters`` are enough."""
        if not self.chosen:
            return self.label.text
        version, modes = self.label.release, [found.labels[column].mode for column in self.columns]
        listed = _("{version}, best of {modes}", version=version, modes=enumerate_names(modes))
        if len(listed) <= letters:
            return listed
        # Of one mode there is nothing to choose.
        return ngettext(
            "{version}, best of {count} mode", "{version}, best of {count} modes", len(modes), version=version
        )


@dataclass(frozen=True)
class Drawn:
    """The rows and series that a figure has room for."""

    rows: Sequence[ComparedRow]
    series: Sequence[Series]
    #: Those whose looks must differ, of which some may have no room.
    every: Sequence[Series]
    #: Whether the rows stand in two columns of bands.
    wide: bool
    #: What is not shown, in words.
    notes: tuple[str, ...]

    def name(self, series: Series, found: SpeedUps) -> str:
        return series.name(found, LISTED_WIDE if self.wide else LISTED)


def keep_columns(found: SpeedUps, columns: Sequence[str], most: int) -> list[str]:
    """Return at most so many columns, in their order: first the fastest mode of each version, then its other modes."""
    order = dispensability(found)
    kept = sorted(columns, key=order.__getitem__)[:most]
    return [column for column in columns if column in kept]


def of_columns(found: SpeedUps, columns: Sequence[str]) -> list[Series]:
    return [Series(column, (column,), found.labels[column]) for column in columns]


def of_versions(found: SpeedUps) -> list[Series]:
    """Return a series for each version that can be compared, in the order of the columns."""
    if found.baseline == PREVIOUS:
        # Modes are then compared with different times, and the greatest speed-up is not the shortest time.
        others = [column for column in found.columns if not is_base(found, column)]
        return of_columns(found, best_of_versions(found, others))
    modes: dict[str, list[str]] = {}
    for column in found.columns:
        cells = [row.cells[column] for row in found.rows if column in row.cells]
        if any(cell.speed_up is not None and eligible(cell) for cell in cells):
            modes.setdefault(environment_of(column), []).append(column)
    names = names_of_versions({name: own[0] for name, own in modes.items()}, found.labels)
    every = []
    for name, own in modes.items():
        label = found.labels[own[0]]
        bare = replace(label, mode="") if names[name] == label.release else replace(label, product=name, mode="")
        every.append(Series(own[0], (own[0],), label) if len(own) == 1 else Series(name, tuple(own), bare))
    return [one for one in every if any(one.fastest(row) for row in found.rows)]


def eligible(cell: ComparedCell) -> bool:
    """Tell whether a version may choose a cell: a mode of another precision is no better mode."""
    return cell.is_base or computes_as_asked(cell.result.cell)


def is_base(found: SpeedUps, column: str) -> bool:
    """Tell whether a column has nothing to compare: the baseline, or the oldest of the versions."""
    return all(cell.is_base for row in found.rows if (cell := row.cells.get(column)))


def choose(found: SpeedUps, others: Sequence[str]) -> Drawn:
    """Choose what is shown: all columns where they fit, as those of a small study do; else each version's best mode.

    ``others`` are the columns that can be compared. Rows and versions for which there is no room are left out last.
    """
    means = len(found.tracks)
    missed_most = sorted(others, key=dispensability(found).__getitem__)
    columns = keep_columns(found, others, MOST_COLUMNS)
    whole = columns == list(others)
    series = of_columns(found, columns)
    if len(found.rows) + means <= most_rows(len(columns)):
        every = of_columns(found, found.columns) if whole else series
        return Drawn(found.rows, series, every, False, tuple(incomplete(whole)))
    if whole and len(_rows(found, series)) + means <= most_wide_rows(len(columns)):
        every = of_columns(found, found.columns)
        return Drawn(_rows(found, series), series, every, True, _empty(found, series))
    versions = of_versions(found)
    # With a single version, its modes are what is compared.
    every = versions if len(versions) > 1 else series
    return _choose_of(found, every, missed_most, cut=every is series and not whole)


def _choose_of(found: SpeedUps, every: Sequence[Series], missed_most: Sequence[str], *, cut: bool) -> Drawn:
    """Show every row with as many of the series as leave room; fewer rows only where one series has too many.

    ``cut`` says whether some columns are in no series.
    """
    means = len(found.tracks)
    order = {column: number for number, column in enumerate(missed_most)}
    ranked = sorted(every, key=lambda one: min(order.get(column, len(order)) for column in one.columns))[:MOST_COLUMNS]
    for count in range(len(ranked), 0, -1):
        series = [one for one in every if one in ranked[:count]]
        rows = _rows(found, series)
        if len(rows) + means <= most_wide_rows(count):
            break
    room = most_wide_rows(len(series)) - means
    notes = incomplete(not cut and not rows[room:] and len(series) == len(every))
    wide = len(rows) + means > most_rows(len(series))
    return Drawn(rows[:room], series, every, wide, (*notes, *_empty(found, series)))


def _rows(found: SpeedUps, series: Sequence[Series]) -> list[ComparedRow]:
    return [row for row in found.rows if any(one.fastest(row) for one in series)]


def _empty(found: SpeedUps, series: Sequence[Series]) -> tuple[str, ...]:
    """Say how many rows are left out as they have none of these."""
    empty = len(found.rows) - len(_rows(found, series))
    if not empty:
        return ()
    return (
        ngettext(
            "{count} row without a speed-up of these is left out",
            "{count} rows without a speed-up of these are left out",
            empty,
        ),
    )
