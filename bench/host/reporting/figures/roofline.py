"""Draws the rooflines of the machine, from its measured peaks, and how near the cells come (Williams et al. 2009)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ...analysis.efficiency import peak_of
from ...analysis.peaks import Peak
from ...analysis.results import Result
from ...analysis.speed_ups import ComparedCell
from ...statistics.roofline import floor_s
from ..report import Report
from ..tables import table
from ..tables.speedup_values import ComparedRow, SpeedUps
from ..words.language import _
from ..words.numbers import format_number
from ..words.row_names import threads_in_words
from .axes import scale, write_power
from .legend import cut_names, finish, handles_of, hollow, incomplete, missing
from .series import keep_columns
from .style import MOST_COLUMNS, TEXT_WIDTH, WIDTH, Style, styles_of

HEIGHT = 2.6
#: Rows of a panel; panels side by side.
MOST_ROWS, MOST_PANELS = 12, 2
GIGA = 1e9
DASHED = (0, (4, 2))
#: How far letters stand apart, and how far above the axes, as shares of these.
APART, ABOVE = 0.035, 0.07
#: The colour of the line of a row, up to its letter.
ROW = "0.65"


@dataclass(frozen=True)
class Roofed:
    """What has the same roofs: the rows of one device, precision and number of threads."""

    title: str
    #: The peaks in words.
    peaks: str
    peak: Peak
    #: (operational intensity, row)
    rows: Sequence[tuple[float, ComparedRow]]

    @property
    def shown(self) -> list[tuple[float, ComparedRow]]:
        """The first rows, by operational intensity."""
        return sorted(self.rows[:MOST_ROWS], key=lambda one: one[0])


def draw(report: Report) -> Figure | None:
    """Draw a panel for each device, precision and number of threads; None without peaks, or without work."""
    found = report.speed_ups
    if found is None:
        return None
    known = [c for c in found.columns if any((cell := row.cells.get(c)) and _rate(cell) for row in found.rows)]
    columns = keep_columns(found, known, MOST_COLUMNS)
    every = group(report, found, columns)
    groups = every[:MOST_PANELS]
    if not groups:
        return None
    styles = styles_of(found.columns, found.labels, columns)
    figure = Figure(figsize=(WIDTH if len(groups) == 1 else TEXT_WIDTH, HEIGHT), layout="constrained")
    names = dict.fromkeys(row.name for one in groups for _x, row in one.shown)
    letters = dict(zip(names, table.letters(), strict=False))
    for axes, one in zip(figure.subplots(1, len(groups), squeeze=False).flat, groups, strict=True):
        _draw_group(axes, one, columns, styles, letters)
    figure.axes[0].set_ylabel("GFLOP/s")
    shown = [cell for one in groups for _x, row in one.shown for cell in row.cells.values() if cell.time]
    rows_shown = len(every) <= MOST_PANELS and all(len(one.rows) <= MOST_ROWS for one in every)
    whole = rows_shown and len(columns) == len(known)
    lines = [
        _("operational intensity: useful FLOP per compulsory byte"),
        *(f"{one.title if len(groups) > 1 else _('peaks')}: {one.peaks}" for one in groups),
        "  ".join(
            f"{letter} {name};".replace(" ", "\u00a0")
            for name, letter in zip(cut_names(list(letters)), letters.values(), strict=True)
        ).rstrip(";"),
        *missing(found.cells()),
        *incomplete(whole),
    ]
    handles = [
        *handles_of(columns, found.labels, styles, doubtful=any(map(hollow, shown))),
        Line2D([], [], color="0.45", linewidth=0.7, label=_("roof from the fastest cache")),
        Line2D([], [], color="0.45", linewidth=0.7, linestyle=DASHED, label=_("roof from main memory")),
        Line2D([], [], color="black", linewidth=1.2, label=_("roof of a row, by its size")),
    ]
    return finish(figure, lines, handles)


def group(report: Report, found: SpeedUps, columns: Sequence[str]) -> list[Roofed]:
    """Group the rows that have work and times by what their roofs depend on; those with most rows come first."""
    groups: dict[tuple[str, str], tuple[Peak, list[tuple[float, ComparedRow]]]] = {}
    for row in found.rows:
        shown = next((cell.result for c in columns if (cell := row.cells.get(c)) and _rate(cell)), None)
        if shown is None:
            continue
        peak = peak_of(shown, report.manifest)
        if peak.flops_per_s and peak.bandwidths:
            measured = shown.cell
            title = ", ".join((measured.device, measured.precision, threads_in_words(measured.threads)))
            groups.setdefault((title, _peaks(peak)), (peak, []))[1].append((_intensity(shown), row))
    ordered = sorted(groups.items(), key=lambda item: -len(item[1][1]))
    return [Roofed(*names, peak, rows) for names, (peak, rows) in ordered]


def _peaks(peak: Peak) -> str:
    rates = peak.flops_per_s or 0.0, max(rate for _size, rate in peak.bandwidths), peak.bandwidths[-1][1]
    computing, best, last = (format_number(rate / GIGA) for rate in rates)
    return _(
        "{flops} GFLOP/s, cache {cache} GB/s, memory {memory} GB/s",
        flops=computing,
        cache=best,
        memory=last,
    )


def _rate(cell: ComparedCell) -> float | None:
    achieved = cell.result.achieved
    return achieved.flops_per_s if cell.time and achieved and achieved.bytes_per_s else None


def _intensity(result: Result) -> float:
    return float(result.work["useful_flops"] / result.work["compulsory_bytes"])


def _draw_group(
    axes: Axes, one: Roofed, columns: Sequence[str], styles: dict[str, Style], letters: Mapping[str, str]
) -> None:
    intensities = [x for x, _row in one.shown]
    low, high = min(intensities) / 2.0, max(intensities) * 2.0
    rates = []
    feet = []
    _draw_roofs(axes, one.peak, low, high)
    for x, row in one.shown:
        known = [(c, cell, rate) for c in columns if (cell := row.cells.get(c)) and (rate := _rate(cell))]
        for column, cell, rate in known:
            axes.plot([x], [rate / GIGA], zorder=3, **styles[column].point(hollow=hollow(cell)))
        work = known[0][1].result.work
        roof = _roof(work["useful_flops"], work["compulsory_bytes"], one.peak)
        reach = (high / low) ** 0.02
        axes.plot([x / reach, x * reach], [roof, roof], color="black", linewidth=1.2, zorder=2)
        lowest = min(rate for *_rest, rate in known) / GIGA
        feet.append(lowest)
        rates += [lowest, roof]
    scale(axes, (low, high), write=write_power, most=6)
    scale(axes, [*rates, (one.peak.flops_per_s or 0.0) / GIGA], of="y", write=write_power, most=6)
    axes.vlines(intensities, feet, axes.get_ylim()[1], color=ROW, linewidth=0.6, zorder=1)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(one.title, pad=18)
    _name_rows(axes, one, letters)


def _roof(flops: float, moved: float, peak: Peak) -> float:
    """Return the GFLOP/s that the peaks allow a step."""
    return flops / floor_s(flops, moved, peak.flops_per_s, peak.bandwidths) / GIGA


def _draw_roofs(axes: Axes, peak: Peak, low: float, high: float) -> None:
    """Draw the roof of the processor, and below it that of the fastest cache and that of the largest memory."""
    x = np.geomspace(low, high, 200)
    fastest, largest = max(rate for _size, rate in peak.bandwidths), peak.bandwidths[-1][1]
    for rate, pattern in ((fastest, "solid"), (largest, DASHED)):
        roof = np.minimum(peak.flops_per_s or np.inf, rate * x) / GIGA
        axes.plot(x, roof, color="0.45", linestyle=pattern, linewidth=0.7, zorder=1)


def _name_rows(axes: Axes, one: Roofed, letters: Mapping[str, str]) -> None:
    """Write the letters of the rows above the axes, apart from each other, each with a line to that of its row."""
    low, high = axes.get_xlim()
    places = [math.log(x / low) / math.log(high / low) for x, _row in one.shown]
    for (x, row), letter_at in zip(one.shown, spread(places, APART), strict=True):
        axes.annotate(
            letters[row.name],
            (x, 1.0),
            xytext=(letter_at, 1.0 + ABOVE),
            xycoords=("data", "axes fraction"),
            textcoords="axes fraction",
            ha="center",
            arrowprops={
                "arrowstyle": "-",
                "linewidth": 0.6,
                "color": ROW,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0.5, 0),
            },
        )


def spread(places: Sequence[float], apart: float) -> list[float]:
    """Move ascending places between 0 and 1 apart from each other, by as little as possible in squares.

    So places that are close stay around their middle. It is isotonic regression of how far each is right of where it
    would be in a row of touching ones: those that would be left of the one before share a mean.
    """
    pools: list[tuple[float, int]] = []
    for number, place in enumerate(places):
        mean, count = place - number * apart, 1
        while pools and pools[-1][0] >= mean:
            other, size = pools.pop()
            mean, count = (other * size + mean * count) / (size + count), size + count
        pools.append((mean, count))
    starts = [mean for mean, count in pools for _one in range(count)]
    last = max(0.0, 1.0 - (len(places) - 1) * apart)
    return [min(last, max(0.0, start)) + number * apart for number, start in enumerate(starts)]
