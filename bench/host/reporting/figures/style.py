"""Gives every column its colour, marker and line, and every figure its fonts and its size.

A framework has the same colour in every figure; older versions are paler. A mode has the same marker where no other
column of the figure has it. Every column that a figure shows has a marker of its own, and in figures of lines a
pattern, so that the figures can be read in grey. Where a figure has more columns than markers, no two have the same
marker with the same pattern. The colours are those of Okabe and Ito (2008), which colour-blind people tell apart, and
some of Tol (2021).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..words.labels import Label

#: Inches: one column of a two-column paper, and both columns. IEEE's are 252 and 516 pt wide, of 72.27 pt to the inch.
WIDTH, TEXT_WIDTH = 3.48, 7.13
#: Inches of the axes: a figure must fit on a page with its legend and its caption; the tables have everything.
HEIGHT = 6.4
#: More columns than these are not told apart: as points in bands, and as lines.
MOST_COLUMNS, MOST_LINES = 12, 8
COLOURS = {
    "PyTorch": "#D55E00",
    "TensorFlow": "#009E73",
    "JAX": "#0072B2",
    "NumPy": "#666666",
    "Keras": "#CC79A7",
    "Lightning": "#56B4E9",
    "Flax": "#E69F00",
    "Haiku": "#AA4499",
    "TensorFlow Lite": "#56B4E9",
    # Tol's, as the others are taken.
    "TensorFlow graphs": "#882255",
    "Theano": "#999933",
}
#: For other people's frameworks, in the order of the columns: those that no framework of the figure has.
OTHERS = ("#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = "osD^vPX<>ph*d"
#: {(framework, mode): marker}, or {mode: marker} in any framework; without a mode, the best modes of a version.
MARKER_OF: Mapping[tuple[str, str] | str, str] = {
    ("PyTorch", ""): "s",
    ("TensorFlow", ""): "D",
    ("JAX", ""): "^",
    ("JAX", "eager"): "*",
    ("TensorFlow", "eager"): "p",
    ("Flax", "linen"): "p",
    ("Haiku", "jit"): "h",
    "eager": "D",
    "torchscript": "s",
    "compile": "^",
    "compile-step": "v",
    "compile-reduce-overhead": ">",
    "compile-max-autotune": "<",
    "aot-inductor": "X",
    "compile-openxla": "<",
    "jit": "P",
    "function": "X",
    "xla": "d",
    "fit": "s",
    "fit-jit": "<",
    "fit-compile": ">",
    "session": "v",
}
#: Lengths of strokes and gaps, in widths of the line.
PATTERNS: tuple[Any, ...] = (
    "solid",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
    (0, (9, 1, 1, 1, 1, 1, 1, 1)),
)
#: How much white is in the colour of the oldest version of a framework.
PALEST = 0.4
#: Settings of matplotlib. Type 42 fonts are outlines, which publishers ask for.
SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.linewidth": 0.5,
    "axes.titlesize": 7,
    "axes.titlepad": 3,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    # Texts are placed as exactly as they are printed.
    "figure.dpi": 300,
    "pdf.fonttype": 42,
    "svg.hashsalt": "benchmatrix",
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Style:
    colour: tuple[float, float, float]
    marker: str
    pattern: Any = "solid"

    def point(self, *, hollow: bool = False) -> dict[str, Any]:
        """Return how matplotlib draws a point."""
        return {
            "linestyle": "none",
            "marker": self.marker,
            "markersize": 3.6,
            "markeredgewidth": 0.7,
            "markeredgecolor": self.colour,
            "markerfacecolor": "white" if hollow else self.colour,
        }

    def line(self) -> dict[str, Any]:
        """Return how matplotlib draws a line."""
        return {"color": self.colour, "linestyle": self.pattern, "linewidth": 0.9}


def styles_of(
    columns: Sequence[str], labels: Mapping[str, Label], shown: Collection[str] | None = None
) -> dict[str, Style]:
    """Give each column its style; with ``shown`` only those that one figure shows, of which no two are alike.

    A column looks the same in every figure of the ``columns``, unless another one that is shown has its look.
    """
    frameworks = {column: labels[column].framework or labels[column].product for column in columns}
    unknown = [framework for framework in dict.fromkeys(frameworks.values()) if framework not in COLOURS]
    taken = {COLOURS.get(framework) for framework in frameworks.values()}
    left = [colour for colour in OTHERS if colour not in taken] or OTHERS
    hues = COLOURS | {framework: left[number % len(left)] for number, framework in enumerate(unknown)}
    markers, patterns = _looks(columns, labels, frameworks, columns if shown is None else shown)
    found = {}
    for column in (column for column in columns if column in markers):
        same = [other for other in columns if frameworks[other] == frameworks[column]]
        versions = sorted({labels[other].version for other in same}, key=_key)
        age = (len(versions) - 1 - versions.index(labels[column].version)) / max(1, len(versions) - 1)
        colour = _paler(hues[frameworks[column]], PALEST * age)
        found[column] = Style(colour, MARKERS[markers[column]], PATTERNS[patterns[column]])
    return found


def _looks(
    columns: Sequence[str], labels: Mapping[str, Label], frameworks: Mapping[str, str], shown: Collection[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Choose the marker and the pattern of each column that is shown: those among all columns, where they are free."""
    of_modes = _markers_of_modes(columns, labels, frameworks)
    wanted = {column: MARKERS.index(marker) for column, marker in of_modes.items()}
    # The others take what is left to them.
    wanted |= {column: 0 for column in columns if column not in wanted}
    markers = _settle(wanted, len(MARKERS), frameworks)
    # A pattern belongs to a marker, so that the order of the columns does not matter and a mode keeps its pattern.
    by_marker = dict(sorted(markers.items(), key=lambda one: one[1]))
    patterns = _settle(by_marker, len(PATTERNS), frameworks, beside=markers)
    own = _settle({column: markers[column] for column in wanted if column in shown}, len(MARKERS), frameworks)
    kept = {column: patterns[column] for column in by_marker if column in shown}
    return own, _settle(kept, len(PATTERNS), frameworks, beside=own)


def _settle(
    wanted: Mapping[str, int], count: int, frameworks: Mapping[str, str], beside: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Give each column one of ``count`` places that as few others have as possible, least of all its framework's.

    Of several it is the ``wanted`` one, or the next one. No two columns have the same place with the same one
    ``beside`` it, as long as there are enough.
    """
    found: dict[str, int] = {}
    for column, first in wanted.items():
        same = Counter(place for other, place in found.items() if frameworks[other] == frameworks[column])
        every = Counter(found.values())
        alike = {place for other, place in found.items() if beside and beside[other] == beside[column]}
        places = [(first + step) % count for step in range(count)]
        found[column] = min(places, key=lambda place: (place in alike, same[place], every[place]))
    return found


def _markers_of_modes(
    columns: Sequence[str], labels: Mapping[str, Label], frameworks: Mapping[str, str]
) -> dict[str, str]:
    """Return the marker of each mode for the newest version that has it."""
    found: dict[str, str] = {}
    for column in sorted(columns, key=lambda column: _key(labels[column].version), reverse=True):
        mode = labels[column].mode
        marker = MARKER_OF.get((frameworks[column], mode)) or MARKER_OF.get(mode)
        if marker and marker not in found.values():
            found[column] = marker
    return found


def _key(version: str) -> tuple[list[int], str]:
    return [int(part) for part in version.split(".") if part.isdecimal()], version


def _paler(colour: str, share: float) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red + (1 - red) * share, green + (1 - green) * share, blue + (1 - blue) * share
