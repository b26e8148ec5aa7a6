"""Writes what stands below a figure: the legend of its columns, and what it does not show."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from ...analysis.quality import Quality
from ...analysis.speed_ups import ComparedCell
from ..words.labels import Label
from ..words.language import _, ngettext
from ..words.terms import status_word
from ..words.text import printable
from .style import WIDTH, Style

#: Letters of a name beside the axes.
NAME = 30
#: Letters that stay of the first part of a name where the other parts are long.
LEAST = 8
#: Letters of a name in the legend; only where one column of these is too wide for the figure, fewer.
LEGEND_NAMES = (60, 48, NAME, 20)
#: Letters of a line, an inch.
LETTERS = 17
#: How far lines of notes stand apart, in heights of letters; inches below all notes, and above the legend.
SPACING, NOTES_GAP, LEGEND_GAP = 1.3, 0.02, 0.1


def cut(text: str, length: int = NAME) -> str:
    """Return a text on one line, without characters that steer, of a length that fits."""
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def cut_names(names: Sequence[str], length: int = NAME) -> list[str]:
    """Cut names to a length, and so that those that differ still do: the first part first, as the last ones tell."""
    whole = {name: printable(name) for name in names}
    found: dict[str, str] = {}
    for name, text in whole.items():
        first, *rest = text.split(", ")
        tail = "".join(f", {part}" for part in rest)
        tries = [cut(text, length)]
        if 0 < len(tail) < length - LEAST and len(text) > length:
            tries.insert(0, cut(first, length - len(tail)) + tail)
        tries += [f"{text[: length - 1 - kept]}…{text[-kept:]}" for kept in (length // 3, length // 2, length - LEAST)]
        tries += [f"{cut(text, length - len(mark))}{mark}" for mark in (f" ({n})" for n in range(2, len(whole) + 1))]
        found[name] = next(one for one in tries if one not in found.values())
    return [found[name] for name in names]


def hollow(cell: ComparedCell) -> bool:
    """Tell whether a point is drawn hollow, as its number is not firm."""
    return cell.grade is not Quality.CLEAN


def handles_of(
    columns: Iterable[str],
    labels: Mapping[str, Label],
    styles: Mapping[str, Style],
    *,
    lines: bool = False,
    doubtful: bool = False,
) -> list[Line2D]:
    """Name the columns by their markers, with their lines where they have some; ``doubtful`` explains hollow ones."""
    handles = []
    for column in columns:
        look = styles[column].point() | (styles[column].line() if lines else {})
        handles.append(Line2D([], [], label=printable(labels[column].text), **look))
    if doubtful:
        grey = Style((0.3, 0.3, 0.3), "o")
        handles.append(Line2D([], [], label=_("hollow: noisy or unsteady"), **grey.point(hollow=True)))
    return handles


def missing(cells: Iterable[ComparedCell], *, compared: bool = False) -> list[str]:
    """Count the cells that are not shown, by reason; ``compared`` ones also need a baseline that can be used."""
    every = list(cells)
    busy = sum(cell.withheld if compared else cell.grade is Quality.DISTURBED for cell in every)
    lines = []
    if busy:
        lines.append(
            ngettext(
                "{count} cell is not shown: the machine was busy",
                "{count} cells are not shown: the machine was busy",
                busy,
            )
        )
    for status, count in Counter(cell.result.status for cell in every if cell.grade is None).most_common():
        lines.append(
            ngettext(
                "{count} cell is not shown: {status}",
                "{count} cells are not shown: {status}",
                count,
                status=status_word(status),
            )
        )
    return lines


def incomplete(whole: bool) -> list[str]:
    """Say where the rows and columns are for which there is no room; nothing where the figure is ``whole``."""
    return [] if whole else [_("more rows and columns are in details.csv")]


def finish(figure: Figure, notes: Iterable[str], handles: Sequence[Line2D] = ()) -> Figure:
    """Let a figure grow by the notes and the legend below its axes; return it."""
    width, height = figure.get_size_inches()
    lines = [line for note in notes for line in textwrap.wrap(note, int(width * LETTERS), break_on_hyphens=False)]
    text = figure.text(0.5, 0.0, "\n".join(lines), ha="center", va="top", linespacing=SPACING)
    below = NOTES_GAP + float(text.get_window_extent().height) / figure.dpi if lines else 0.0
    below += _add_legend(figure, handles) if handles else 0.0
    figure.set_size_inches(width, height + below)
    share = 1.0 / (height + below)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(rect=(0.0, below * share, 1.0, height * share))
    text.set_y(below * share)
    return figure


def _add_legend(figure: Figure, handles: Sequence[Line2D]) -> float:
    """Add a legend with as many columns as fit, and return how many inches it is high with the gap above it."""
    most = 2 if figure.get_figwidth() <= WIDTH else 4
    names = [str(handle.get_label()) for handle in handles]
    tries = [(across, LEGEND_NAMES[0]) for across in range(min(most, len(handles)), 0, -1)]
    for across, length in [*tries, *((1, length) for length in LEGEND_NAMES[1:])]:
        legend = _legend(figure, handles, cut_names(names, length), across)
        size = legend.get_window_extent()
        if size.width <= figure.bbox.width:
            break
        legend.remove()
    else:
        figure.add_artist(legend)
    return LEGEND_GAP + float(size.height) / figure.dpi


def _legend(figure: Figure, handles: Sequence[Line2D], names: Sequence[str], across: int) -> Legend:
    return figure.legend(
        handles=handles,
        labels=names,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=0.0,
        borderpad=0.2,
        columnspacing=1.5,
        labelspacing=0.25,
        ncols=across,
        frameon=False,
        handletextpad=0.5,
        handlelength=3.2 if any(handle.get_linestyle() != "None" for handle in handles) else 1.5,
    )
