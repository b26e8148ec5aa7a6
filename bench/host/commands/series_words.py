"""Writes changes and breaks of series: sizes, times, small charts, and the names of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .run_choice import minute

if TYPE_CHECKING:
    from ..analysis.fairness import Difference
    from ..analysis.series import RunSeries, SeriesChange
    from ..analysis.series_breaks import SeriesBreak

#: What changed, and breaks, that are printed without --all.
MOST_CAUSES, MOST_BREAKS = 3, 3
#: Heights of a small chart, and the runs that it shows.
BARS, BARS_SHOWN = "▁▂▃▄▅▆▇█", 40


def time_of(found: RunSeries, change: SeriesChange, place: int | None = None) -> str:
    """Return when a run of the series was measured, to the minute: by default the first one of the new level."""
    return minute(found.runs[change.series.runs[change.change.at if place is None else place]].started)


def size_in_words(one: SeriesChange) -> str:
    """Write the size of a change with its interval: ``4.1 % slower [3.2, 5.0]``."""
    estimate = one.change.ratio.estimate
    word = "slower" if estimate.value > 1.0 else "faster"
    ends = [100.0 * abs(end - 1.0) for end in (estimate.low, estimate.high) if end is not None]
    crosses = estimate.low is not None and estimate.high is not None and estimate.low < 1.0 < estimate.high
    interval = f" [{min(ends):.1f}, {max(ends):.1f}]" if ends and not crosses else ""
    return f"{100.0 * abs(estimate.value - 1.0):.1f} % {word}{interval}"


def chart(logs: Sequence[float], at: int) -> str:
    """Draw the runs around a change, one character each."""
    shown = logs[max(0, at - BARS_SHOWN // 2) : at + BARS_SHOWN // 2]
    low, high = min(shown), max(shown)
    steps = len(BARS) - 1
    return "".join(BARS[round(steps * (value - low) / (high - low)) if high > low else 0] for value in shown)


def change_in_words(one: SeriesChange, found: RunSeries, *, every: bool) -> Iterator[str]:
    """Write a change: its time, size and cell, a chart, and what changed with it."""
    change = one.change
    yield f"{time_of(found, one)}  {size_in_words(one)}  {one.series.cell.name}"
    if change.first < change.last:
        yield f"    between {time_of(found, one, change.first - 1)} and {time_of(found, one, change.last)}"
    yield f"    {chart(one.series.logs.tolist(), change.at)}  {change.before} runs before, {change.after} from it on"
    yield from _differences(one.causes, "with ", every=every)
    if not one.causes:
        yield "    nothing that the runs record changed with it"


def breaks_in_words(breaks: Sequence[SeriesBreak], found: RunSeries, *, every: bool) -> Iterator[str]:
    """Write which cells have a new series since when, and why."""
    if not breaks:
        return
    yield "Not compared with the runs before, because machine, settings or inputs changed:"
    for one in breaks[: None if every else MOST_BREAKS]:
        more = f" and {len(one.cells) - 1} more" if len(one.cells) > 1 else ""
        yield f"{minute(found.runs[one.at].started)}  {one.cells[0].name}{more}"
        yield from _differences(one.differences, "", every=every)
    if len(breaks) > MOST_BREAKS and not every:
        yield f"and {len(breaks) - MOST_BREAKS} more: --all"


def _differences(found: Sequence[Difference], word: str, *, every: bool) -> Iterator[str]:
    most = len(found) if every else MOST_CAUSES
    for what, before, after in found[:most]:
        yield f"    {word}{what} {before} → {after}"
    if len(found) > most:
        yield f"    and {len(found) - most} more that changed: --all"
