"""Makes the frame of a figure that has one panel for each row of a table, as wide as the text of a paper."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..tables.speedup_values import ComparedRow, SpeedUps
from .legend import cut_names
from .series import keep_columns
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


def has_time(row: ComparedRow, column: str) -> bool:
    cell = row.cells.get(column)
    return cell is not None and cell.time is not None


def choose(
    found: SpeedUps, columns: Iterable[str], most: int, drawable: Callable[[ComparedRow, str], bool] = has_time
) -> tuple[list[ComparedRow], list[str], bool]:
    """Return the rows and columns that fit and have something ``drawable``, and whether these are all that have it.

    Of many columns, the fastest mode of each version stays; of many rows, the first ones.
    """
    every = [column for column in columns if any(drawable(row, column) for row in found.rows)]
    kept = keep_columns(found, every, most)
    rows = [row for row in found.rows if any(drawable(row, column) for column in kept)]
    shown = rows[:MOST_PANELS]
    # A column that none of these rows has would have no line for its name in the legend.
    drawn = [column for column in kept if any(drawable(row, column) for row in shown)]
    return shown, drawn, len(shown) == len(rows) and len(kept) == len(every)
