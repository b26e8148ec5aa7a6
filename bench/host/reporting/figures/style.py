"""Gives every column its colour and marker, and every figure its fonts and its size.

A framework has the same colour in every figure; older versions are paler. Every column has a marker of its own, so
that the figures can be read in grey. The colours are those of Okabe and Ito (2008), which colour-blind people tell
apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..words.labels import Label

#: Inches: one column of a two-column paper.
WIDTH = 3.5
COLOURS = {"PyTorch": "#D55E00", "TensorFlow": "#009E73", "JAX": "#0072B2"}
#: For other frameworks, in the order of the columns.
OTHERS = ("#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = "osD^vPX<>ph*d"
#: How much white is in the colour of the oldest version of a framework.
PALEST = 0.4
#: Settings of matplotlib. Type 42 fonts are outlines, which publishers ask for.
SETTINGS: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.linewidth": 0.5,
    "xtick.major.width": 0.5,
    "pdf.fonttype": 42,
    "svg.hashsalt": "benchmatrix",
    "text.parse_math": False,
}


@dataclass(frozen=True)
class Style:
    colour: tuple[float, float, float]
    marker: str


def styles_of(columns: Sequence[str], labels: Mapping[str, Label]) -> dict[str, Style]:
    """Give each column its style."""
    products = list(dict.fromkeys(labels[column].product for column in columns))
    unknown = [product for product in products if product not in COLOURS]
    hues = COLOURS | {product: OTHERS[number % len(OTHERS)] for number, product in enumerate(unknown)}
    found = {}
    for number, column in enumerate(columns):
        label = labels[column]
        versions = sorted(
            {labels[other].version for other in columns if labels[other].product == label.product}, key=_key
        )
        age = (len(versions) - 1 - versions.index(label.version)) / max(1, len(versions) - 1)
        found[column] = Style(_paler(hues[label.product], PALEST * age), MARKERS[number % len(MARKERS)])
    return found


def _key(version: str) -> tuple[list[int], str]:
    return [int(part) for part in version.split(".") if part.isdecimal()], version


def _paler(colour: str, share: float) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return red + (1 - red) * share, green + (1 - green) * share, blue + (1 - blue) * share
