"""Makes the frame of a figure that has one row for each row of a table, and a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..words.numbers import general
from ..words.text import printable
from .style import WIDTH

#: Inches for a point, between two rows, and around them.
POINT, GAP, AROUND = 0.062, 0.08, 0.62
#: A figure must fit on a page; the tables have everything. In inches, without what is around the rows.
HEIGHT = 8.0
MOST_COLUMNS = 12
NAME = 30
#: From the least to the greatest value; beyond, there is room for powers of ten only.
MOST_STEPPED = 500


def make_frame(names: Sequence[str], points: int, entries: int, means: bool = False) -> tuple[Figure, Axes]:
    """Make a figure with a band for each name; ``points`` share a band, and the legend has ``entries``."""
    height = len(names) * (points * POINT + GAP) + AROUND + 0.14 * math.ceil(entries / 2)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log")
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), [cut(name) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    for number in range(0, len(names), 2):
        axes.axhspan(number - 0.5, number + 0.5, color="0.95", linewidth=0, zorder=0)
    if means:
        axes.axhline(len(names) - 1.5, color="0.4", linewidth=0.5)
    return figure, axes


def cut(text: str, length: int = NAME) -> str:
    """Return a text on one line, without characters that steer, of a length that fits."""
    text = printable(text)
    return text if len(text) <= length else text[: length - 1] + "…"


def most_rows(points: int) -> int:
    """Return how many rows with so many points fit on a page."""
    return int(HEIGHT / (points * POINT + GAP))


def place_of(number: int, count: int) -> float:
    """Return where in its band a point stands, from the middle."""
    return 0.0 if count < 2 else 0.72 * (number / (count - 1) - 0.5)


def scale(axes: Axes, values: Iterable[float]) -> None:
    """Let the axis reach from the least to the greatest value, with few ticks that are easy to read."""
    known = [value for value in values if value > 0 and math.isfinite(value)]
    low, high = min(known), max(known)
    room = max(1.08, (high / low) ** 0.04)
    low, high = low / room, high * room
    axes.set_xlim(low, high)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ratio = high / low
    steps = (
        [1.0] if ratio > MOST_STEPPED else [1.0, 2.0, 5.0] if ratio > 4 else [1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0]
    )
    ticks = [step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high]
    axes.set_xticks(ticks, [general(tick) for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="x", color="0.85", linewidth=0.4, zorder=0.5)
