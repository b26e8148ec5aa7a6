"""Draws performance profiles: in what share of the rows a column is within a factor of the best (Dolan & Moré 2002)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...analysis.profiles import TrackProfiles, profile_tracks
from ...analysis.ranking import FEWEST_COLUMNS
from ...analysis.results import Result
from ...analysis.speed_ups import FEWEST_ROWS
from ...statistics.performance_profile import PerformanceProfile
from ..report import Report
from ..tables.speedup_values import SpeedUps
from ..words.language import _, ngettext
from ..words.numbers import percent
from ..words.row_names import threads_in_words
from ..words.terms import enumerate_names
from .axes import scale
from .legend import finish, handles_of, missing
from .style import MOST_LINES, TEXT_WIDTH, WIDTH, Style, styles_of

HEIGHT = 2.1
MOST_PANELS = 2
#: Greater factors are not shown: there, a column has all the rows that it ever has.
GREATEST = 100.0


def draw(report: Report) -> Figure | None:
    """Draw a panel for each device with a line for each column; None where too few rows can be compared."""
    found = report.speed_ups
    if found is None:
        return None
    every = [one for one in profile_tracks(report.analysis.results) if _is_enough(one)]
    # Of every device the number of threads with most rows, as those of the first mean.
    shown = list({one.device: one for one in reversed(every)}.values())[::-1][:MOST_PANELS]
    if not shown:
        return None
    best = [_best_of(one.columns) for one in shown]
    columns = {column for profiles in best for column in profiles}
    styles = styles_of(found.columns, found.labels, columns)
    figure = Figure(figsize=(WIDTH if len(shown) == 1 else TEXT_WIDTH, HEIGHT), layout="constrained")
    rows = count_rows(report.analysis.results)
    for axes, track, profiles in zip(_side_by_side(figure, len(shown)), shown, best, strict=True):
        _draw_profiles(axes, {column: profiles[column] for column in found.columns if column in profiles}, styles)
        said = ngettext("{count} row", "{count} rows", len(track.rows))
        axes.set_title(f"{track.device}, {threads_in_words(track.threads)}: {said}" if len(rows) > 1 else said)
    figure.axes[0].set_ylabel(_("share of rows"))
    lines = [
        _("at most so many times the best of all columns in the row"),
        *missing(found.cells()),
        *_left_out(report, found, shown, columns),
    ]
    named = [column for column in found.columns if column in columns]
    return finish(figure, lines, handles_of(named, found.labels, styles, lines=True))


def _is_enough(track: TrackProfiles) -> bool:
    return len(track.rows) >= FEWEST_ROWS and len(track.columns) >= FEWEST_COLUMNS


def count_rows(results: Iterable[Result]) -> Counter[tuple[str, int]]:
    """Count the rows that have a time, by device and number of threads."""
    timed = {(one.cell.row, one.cell.device, one.cell.threads) for one in results if one.step is not None}
    return Counter((device, threads) for _row, device, threads in timed)


def _side_by_side(figure: Figure, panels: int) -> list[Axes]:
    return list(figure.subplots(1, panels, squeeze=False).flat)


def _left_out(report: Report, found: SpeedUps, shown: Sequence[TrackProfiles], drawn: Collection[str]) -> list[str]:
    """Say which columns and rows are not drawn, and which file has their profiles."""
    profiled = {column for track in shown for column in track.columns}
    few = [found.labels[column].text for column in found.columns if column not in profiled]
    rows = count_rows(report.analysis.results)
    others = sum(rows.values()) - sum(rows[track.device, track.threads] for track in shown)
    lines = []
    if few:
        lines.append(_("not drawn, too few rows: {columns}", columns=enumerate_names(few)))
    if others:
        lines.append(
            ngettext(
                "not drawn: {count} row of another device or number of threads",
                "not drawn: {count} rows of other devices or numbers of threads",
                others,
            )
        )
    known = {place.column for place in report.rankings if place.profile}
    if profiled.difference(drawn) & known:
        lines.append(_("profiles of more columns are in ranking.csv"))
    return lines


def _best_of(profiles: Mapping[str, PerformanceProfile]) -> dict[str, PerformanceProfile]:
    return {column: profiles[column] for column in sorted(profiles, key=lambda one: _merit(profiles[one]))[:MOST_LINES]}


def _merit(profile: PerformanceProfile) -> float:
    """Return the mean logarithm of the factors, of which none counts more than the greatest that is shown."""
    return math.fsum(math.log(min(GREATEST, factor)) for factor in profile.factors)


def _draw_profiles(axes: Axes, profiles: Mapping[str, PerformanceProfile], styles: Mapping[str, Style]) -> None:
    factors = [factor for profile in profiles.values() for factor in profile.factors if math.isfinite(factor)]
    last = min(GREATEST, max(factors) * 1.05)
    for column, profile in profiles.items():
        x = [1.0, *(factor for factor in profile.factors if factor <= last), last]
        share = [profile.share(factor) for factor in x]
        look = styles[column].point() | styles[column].line()
        axes.plot(x, share, drawstyle="steps-post", markevery=slice(1, -1), zorder=2, **look)
    scale(axes, [1.0, last])
    axes.set_ylim(-0.03, 1.03)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0], [percent(share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)])
    axes.grid(axis="y", color="0.85", linewidth=0.4, zorder=0.5)
    axes.spines[["top", "right"]].set_visible(False)
