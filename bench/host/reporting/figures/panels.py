"""Makes the frame of a figure that has one panel for each row of a table, as wide as the text of a paper."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..tables.speedup_values import ComparedRow, SpeedUps
from .legend import cut_names
from .style import HEIGHT, TEXT_WIDTH, WIDTH

#: Panels side by side, and in all.
ACROSS, MOST_PANELS = 3, 12
#: Letters of the name of a panel.
TITLE = 34


def make_panels(
    names: Sequence[str], height: float, *, same_x: bool = False, share_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Make a figure with a panel of ``height`` inches for each name.

    Where all have the ``same_x`` axis, the lowest name its ticks; where they ``share_y``, the leftmost do.
    """
    across = min(ACROSS, len(names)) if len(names) != ACROSS + 1 else 2
    down = math.ceil(len(names) / across)
    width = WIDTH if across == 1 else TEXT_WIDTH
    figure = Figure(figsize=(width, min(HEIGHT, down * height)), layout="constrained")
    every = list(figure.subplots(down, across, squeeze=False, sharey=share_y).flat)
    for axes in every[len(names) :]:
        axes.remove()
    for number, (axes, name) in enumerate(zip(every, cut_names(names, TITLE), strict=False)):
        axes.set_title(name)
        axes.tick_params(axis="x", labelbottom=not same_x or number + across >= len(names))
        axes.spines[["top", "right"]].set_visible(False)
    return figure, every[: len(names)]


def choose(found: SpeedUps, columns: Iterable[str], most: int) -> tuple[list[ComparedRow], list[str], bool]:
    """Return the rows and columns that fit, and whether these are all; rows without a time in them are left out."""
    every = list(columns)
    kept = every[:most]
    rows = [row for row in found.rows if any(cell.time for c in kept if (cell := row.cells.get(c)))]
    return rows[:MOST_PANELS], kept, len(rows) <= MOST_PANELS and len(kept) == len(every)
