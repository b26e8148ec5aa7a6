"""Writes what stands below a figure: the legend of its columns, and what it does not show."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from ...analysis.quality import Quality
from ...analysis.speed_ups import ComparedCell
from ..words.labels import Label
from ..words.language import _, ngettext
from ..words.text import printable
from .style import WIDTH, Style

#: Letters of a name.
NAME = 30
#: Letters of a line, an inch.
LETTERS = 17
#: Inches of a line of notes, of a line of the legend, and around the legend.
LINE, LEGEND_LINE, LEGEND_GAP = 0.115, 0.15, 0.1


def cut(text: str, length: int = NAME) -> str:
    """Return a text on one line, without characters that steer, of a length that fits."""
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def hollow(place: ComparedCell) -> bool:
    """Tell whether a point is drawn hollow, as its number is not firm."""
    return place.grade is not Quality.CLEAN


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
        handles.append(Line2D([], [], label=cut(labels[column].text), **look))
    if doubtful:
        grey = Style((0.3, 0.3, 0.3), "o")
        handles.append(Line2D([], [], label=_("hollow: noisy or unsteady"), **grey.point(hollow=True)))
    return handles


def missing(places: Iterable[ComparedCell], *, compared: bool = False) -> list[str]:
    """Count the cells that are not shown, by reason; ``compared`` ones also need a baseline that can be used."""
    every = list(places)
    busy = sum(place.withheld if compared else place.grade is Quality.DISTURBED for place in every)
    failed = sum(place.grade is None for place in every)
    lines = []
    if busy:
        lines.append(
            ngettext(
                "{count} cell is not shown: the machine was busy",
                "{count} cells are not shown: the machine was busy",
                busy,
            )
        )
    if failed:
        lines.append(
            ngettext("{count} cell is not shown: it failed", "{count} cells are not shown: they failed", failed)
        )
    return lines


def incomplete() -> str:
    """Say where the rows and columns are for which there is no room."""
    return _("more rows and columns are in details.csv")


def finish(figure: Figure, notes: Iterable[str], handles: Sequence[Line2D] = ()) -> Figure:
    """Let a figure grow by the notes and the legend below its axes; return it."""
    width, height = figure.get_size_inches()
    across = 2 if width <= WIDTH else 4
    lines = [line for note in notes for line in textwrap.wrap(note, int(width * LETTERS), break_on_hyphens=False)]
    legend = LEGEND_LINE * math.ceil(len(handles) / across) + (LEGEND_GAP if handles else 0.0)
    below = LINE * len(lines) + legend
    figure.set_size_inches(width, height + below)
    share = 1.0 / (height + below)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(rect=(0.0, below * share, 1.0, height * share))
    figure.text(0.5, below * share, "\n".join(lines), ha="center", va="top", linespacing=1.15)
    if handles:
        figure.legend(
            handles=handles,
            loc="lower center",
            bbox_to_anchor=(0.5, 0.0),
            borderaxespad=0.0,
            ncols=across,
            frameon=False,
            handletextpad=0.5,
            handlelength=3.2 if any(handle.get_linestyle() != "None" for handle in handles) else 1.5,
        )
    return figure
