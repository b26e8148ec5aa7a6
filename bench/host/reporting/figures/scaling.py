"""Draws how the time of a step grows with the size of a workload, where a run has several sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..report import Report
from ..tables.speedup_values import ComparedRow, SpeedUps
from ..words.language import _
from ..words.row_names import row_name, usual_facets
from .axes import scale, write_time
from .legend import cut, finish, handles_of, hollow, incomplete, missing
from .panels import MOST_PANELS, has_time, make_panels
from .series import keep_columns
from .style import MOST_LINES, Style, styles_of

PANEL = 1.5
#: Letters of the name of a size.
SIZE = 8


def draw(report: Report) -> Figure | None:
    """Draw a panel for each workload that has several sizes, with a line for each column; None without such a one."""
    found = report.speed_ups
    if found is None:
        return None
    known = _with_time(found.columns, families(found, found.columns).values())
    every = families(found, keep_columns(found, known, MOST_LINES))
    names = list(every)[:MOST_PANELS]
    if not names:
        return None
    drawn = [row for name in names for row in every[name]]
    columns = _with_time(keep_columns(found, known, MOST_LINES), [drawn])
    styles = styles_of(found.columns, found.labels, columns)
    figure, panels = make_panels(names, PANEL)
    for axes, name in zip(panels, names, strict=True):
        _draw_family(axes, every[name], columns, styles)
    shown = [cell for row in drawn for column in columns if (cell := row.cells.get(column)) and cell.time]
    whole = len(names) == len(every) and len(columns) == len(known)
    lines = [
        _("sizes, by the useful operations of a step; grey: time in proportion to them"),
        *missing(cell for rows in every.values() for row in rows for cell in row.cells.values()),
        *incomplete(whole),
    ]
    return finish(
        figure, lines, handles_of(columns, found.labels, styles, lines=True, doubtful=any(map(hollow, shown)))
    )


def _with_time(columns: Sequence[str], rows: Iterable[Sequence[ComparedRow]]) -> list[str]:
    every = [row for own in rows for row in own]
    return [column for column in columns if any(has_time(row, column) for row in every)]


def families(found: SpeedUps, columns: Sequence[str]) -> dict[str, list[ComparedRow]]:
    """Group the rows that differ in their size alone, ascending by the work of a step; {name: two rows or more}."""
    usual = usual_facets(found.results)
    grouped: dict[tuple[object, ...], list[ComparedRow]] = {}
    for row in found.rows:
        if _work(row) and any(cell.time for column in columns if (cell := row.cells.get(column))):
            same = row.any_cell
            key = (same.workload, same.precision, same.device, same.threads)
            grouped.setdefault(key, []).append(row)
    named = {}
    for rows in grouped.values():
        first = rows[0].any_cell
        if len({_work(row) for row in rows}) > 1:
            # The size is named at the axis.
            named[row_name(first, (usual[0], first.size, *usual[2:]))] = sorted(rows, key=_work)
    return named


def _work(row: ComparedRow) -> float:
    """Return the useful operations of a step; 0 where they are unknown."""
    return max((float(cell.result.work.get("useful_flops") or 0.0) for cell in row.cells.values()), default=0.0)


def _draw_family(axes: Axes, rows: Sequence[ComparedRow], columns: Sequence[str], styles: dict[str, Style]) -> None:
    work = [_work(row) for row in rows]
    sizes = [row.any_cell.size for row in rows]
    times = []
    for column in columns:
        known = [
            (x, cell.time.value, hollow(cell))
            for x, row in zip(work, rows, strict=True)
            if (cell := row.cells.get(column)) and cell.time
        ]
        times += [(x, time) for x, time, _doubtful in known]
        axes.plot([x for x, *_rest in known], [time for _x, time, _d in known], zorder=2, **styles[column].line())
        for doubtful in {one for *_rest, one in known}:
            own = [(x, time) for x, time, one in known if one is doubtful]
            axes.plot([x for x, _t in own], [t for _x, t in own], zorder=3, **styles[column].point(hollow=doubtful))
    scale(axes, work)
    axes.grid(visible=False, axis="x")
    scale(axes, [time for _x, time in times], of="y", write=write_time, most=6)
    axes.set_xticks(work, [cut(size, SIZE) for size in sizes])
    x, time = times[-1]
    axes.plot(
        [work[0], work[-1]],
        [time * work[0] / x, time * work[-1] / x],
        color="0.75",
        linewidth=1.5,
        zorder=1,
        scaley=False,
        scalex=False,
    )
