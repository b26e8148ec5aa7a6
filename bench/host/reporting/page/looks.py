"""Gives the page the looks that columns have in the figures, so that a reader of both finds a column again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..figures.style import styles_of
from ..words.labels import Label

BLACK = "#000000"
#: The colour of the text, which is white on a dark page.
TEXT = "currentColor"


def looks_of(columns: Sequence[str], labels: Mapping[str, Label], baseline: str | None) -> dict[str, dict[str, Any]]:
    """Return {column: its colour, its marker and the lengths of its strokes and gaps}.

    Lengths are in widths of the line; a solid line has none.
    """
    # As in the figures, the baseline comes first.
    ordered = sorted(columns, key=lambda column: column != baseline)
    found = {}
    for column, style in styles_of(ordered, labels).items():
        colour = "#" + "".join(f"{round(255 * part):02x}" for part in style.colour)
        strokes = [] if style.pattern == "solid" else list(style.pattern[1])
        found[column] = {"colour": TEXT if colour == BLACK else colour, "marker": style.marker, "strokes": strokes}
    return found
