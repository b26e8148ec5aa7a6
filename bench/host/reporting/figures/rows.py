"""Makes the frame of a figure that has one row for each row of a table, and a logarithmic axis.

Where so many rows do not fit into one column of a paper, two closer columns of bands as wide as its text hold them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .legend import cut_names
from .style import TEXT_WIDTH, WIDTH

#: Inches for a point, between two rows, and around them.
POINT, GAP, AROUND = 0.062, 0.1, 0.24
#: The same in two columns of bands, where points of one row may overlap.
CLOSE_POINT, CLOSE_GAP = 0.036, 0.06
#: Inches of all bands: a legend of one column below them may be 2 inches high.
MOST_BANDS = 6.0
#: The same below which a legend is as wide as the text.
MOST_CLOSE_BANDS = 7.4
#: The share of a band in which its points stand, so that each is nearer to its own row than to the next.
INNER = 0.72


def make_frame(names: Sequence[str], points: int, means: int = 0) -> tuple[Figure, Axes]:
    """Make a figure with a band for each name; ``points`` share a band. The last ``means`` names are set apart."""
    height = len(names) * (points * POINT + GAP) + AROUND
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    _draw_bands(axes, names, len(names), means)
    return figure, axes


def make_wide_frame(names: Sequence[str], points: int, means: int = 0) -> tuple[Figure, list[Axes]]:
    """Make a figure with a band for each name in two columns, of which the second has the last names."""
    names = cut_names(names)
    half = math.ceil(len(names) / 2)
    height = half * (points * CLOSE_POINT + CLOSE_GAP) + AROUND
    figure = Figure(figsize=(TEXT_WIDTH, height), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_bands(left, names[:half], half, max(0, means - len(names[half:])))
    _draw_bands(right, names[half:], half, min(means, len(names[half:])))
    return figure, [left, right]


def _draw_bands(axes: Axes, names: Sequence[str], room: int, means: int) -> None:
    """Draw a band for each name into axes with ``room`` for so many; the last ``means`` are set apart."""
    axes.set_xscale("log")
    axes.set_ylim(room - 0.5, -0.5)
    axes.set_yticks(range(len(names)), cut_names(names))
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    for number in range(0, len(names), 2):
        axes.axhspan(number - 0.5, number + 0.5, color="0.95", linewidth=0, zorder=0)
    if means:
        axes.axhline(len(names) - means - 0.5, color="0.4", linewidth=0.5)


def most_rows(points: int) -> int:
    """Return how many rows with so many points fit on a page."""
    return int(MOST_BANDS / (points * POINT + GAP))


def most_wide_rows(points: int) -> int:
    """Return how many rows with so many points fit on a page in two columns."""
    return 2 * int(MOST_CLOSE_BANDS / (points * CLOSE_POINT + CLOSE_GAP))


def place_of(number: int, count: int) -> float:
    """Return where in its band a point stands, from the middle."""
    return INNER * ((number + 0.5) / count - 0.5)
