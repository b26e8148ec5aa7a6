"""Draws the peak memory of every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..report import Report
from ..tables.speedup_values import ComparedRow, SpeedUps
from ..words.language import _
from ..words.numbers import MIB
from .axes import scale
from .legend import finish, handles_of, incomplete, missing
from .rows import make_frame, make_wide_frame, most_rows, most_wide_rows, place_of
from .series import keep_columns
from .style import MOST_COLUMNS, Style, styles_of

#: Columns that stay, however many rows there are.
FEWEST_COLUMNS = 6


def draw(report: Report) -> Figure | None:
    """Draw a band for each row with a point for each column; None where no memory is known.

    Other programs change a time and not the memory, so the cells that they disturbed are shown.
    """
    found = report.speed_ups
    if found is None:
        return None
    every = [peaks for row in found.rows if (peaks := _peaks(row))]
    known = [column for column in found.columns if any(column in peaks for _name, peaks in every)]
    if not known:
        return None
    columns = _choose(found, known, len(every))
    rows = [(name, peaks) for name, peaks in every if any(column in peaks for column in columns)]
    wide = len(rows) > most_rows(len(columns))
    shown = rows[: most_wide_rows(len(columns))]
    styles = styles_of(found.columns, found.labels, columns)
    figure, axes = _make_frame([name for name, _peaks in shown], len(columns), wide=wide)
    half = math.ceil(len(shown) / len(axes))
    sizes = [size for _name, peaks in shown for column, size in peaks.items() if column in columns]
    for number, one in enumerate(axes):
        _draw_rows(one, [peaks for _name, peaks in shown[number * half : (number + 1) * half]], columns, styles)
        scale(one, sizes)
    failed = missing(cell for cell in found.cells() if cell.grade is None)
    whole = len(shown) == len(every) and len(columns) == len(known)
    lines = [_("peak memory of the steps, without the import (MiB)"), *failed, *incomplete(whole)]
    return finish(figure, lines, handles_of(columns, found.labels, styles))


def _peaks(row: ComparedRow) -> tuple[str, dict[str, float]] | None:
    """Return the name of a row with {column: MiB}; None where none is known."""
    peaks = {
        column: size / MIB for column, cell in row.cells.items() if cell.grade and (size := cell.result.peak_bytes)
    }
    return (row.name, peaks) if peaks else None


def _choose(found: SpeedUps, known: Sequence[str], rows: int) -> list[str]:
    """Choose as many columns as leave room for all rows, but some at least."""
    count = min(len(known), MOST_COLUMNS)
    while count > FEWEST_COLUMNS and rows > max(most_rows(count), most_wide_rows(count)):
        count -= 1
    return keep_columns(found, known, count)


def _make_frame(names: Sequence[str], points: int, *, wide: bool) -> tuple[Figure, list[Axes]]:
    if wide:
        return make_wide_frame(names, points)
    figure, axes = make_frame(names, points)
    return figure, [axes]


def _draw_rows(
    axes: Axes, rows: Sequence[Mapping[str, float]], columns: Sequence[str], styles: Mapping[str, Style]
) -> None:
    for place, column in enumerate(columns):
        own = [(peaks[column], number) for number, peaks in enumerate(rows) if column in peaks]
        heights = [number + place_of(place, len(columns)) for _size, number in own]
        axes.plot([size for size, _number in own], heights, zorder=3, **styles[column].point())
