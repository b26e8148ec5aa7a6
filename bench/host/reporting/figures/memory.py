"""Draws the peak memory of every cell."""

from __future__ import annotations

from matplotlib.figure import Figure

from ..report import Report
from ..words.language import _
from ..words.numbers import MIB
from .axes import scale
from .legend import finish, handles_of, incomplete, missing
from .rows import make_frame, most_rows, place_of
from .style import MOST_COLUMNS, styles_of


def draw(report: Report) -> Figure | None:
    """Draw a band for each row with a point for each column; None where no memory is known.

    Other programs change a time and not the memory, so the cells that they disturbed are shown.
    """
    found = report.speed_ups
    if found is None:
        return None
    columns = list(found.columns[:MOST_COLUMNS])
    known = [
        (row.name, peaks)
        for row in found.rows
        if (
            peaks := {
                column: size / MIB
                for column in columns
                if (cell := row.cells.get(column)) and cell.grade and (size := cell.result.peak_bytes)
            }
        )
    ]
    rows = known[: most_rows(len(columns))]
    if not rows:
        return None
    styles = styles_of(found.columns, found.labels, columns)
    figure, axes = make_frame([name for name, _peaks in rows], len(columns))
    for place, column in enumerate(columns):
        own = [(peaks[column], number) for number, (_name, peaks) in enumerate(rows) if column in peaks]
        heights = [number + place_of(place, len(columns)) for _size, number in own]
        axes.plot([size for size, _number in own], heights, zorder=3, **styles[column].point())
    scale(axes, [size for _name, peaks in rows for size in peaks.values()])
    failed = missing(cell for cell in found.cells() if cell.grade is None)
    whole = len(rows) == len(known) and len(columns) == len(found.columns)
    lines = [_("peak memory of the steps, without the import (MiB)"), *failed, *incomplete(whole)]
    return finish(figure, lines, handles_of(columns, found.labels, styles))
