"""Ranks the columns of one run over its rows, or those that are chosen: a list per device and number of threads."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..counts import counted
from ..study import location
from . import announce, cell_filter, compare, exit_codes, run_choice
from .folding import fold, fold_prose

if TYPE_CHECKING:
    from ..analysis.summary_ranking import SummaryColumn, SummaryTrack
    from ..storage.run_summary import RunSummary


#: Rows that are named at most.
NAMED = 3
HEADINGS = ("speed-up", "95 % interval", "ranks", "of best", "fastest", "")
LEGEND = (
    "Of best: its time over that of the best column of each row. Fastest: the rows in which it is that column. Both "
    "means are geometric."
)
#: In place of a number of a column that is not ranked.
NONE = "–"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    run_choice.add_argument(parser)
    cell_filter.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    summary = run_choice.find(options, options.run)
    cell_filter.verify(options, summary.cells)
    announce("\n".join(_lines(summary, options)))
    return exit_codes.EXIT_OK


def _lines(summary: RunSummary, options: argparse.Namespace) -> Iterator[str]:
    from ..analysis.summary_ranking import rank_tracks

    tracks = rank_tracks(summary, filter(cell_filter.chosen(options), summary.cells))
    yield fold(run_choice.describe(summary.facts))
    if not tracks:
        yield fold(
            "No two columns have times in enough of these rows. Choose rows in which they have: --workload PATTERN"
        )
        return
    for track in tracks:
        yield from _track(track)
    yield fold_prose(LEGEND)


def _track(track: SummaryTrack) -> Iterator[str]:
    from tabulate import tabulate

    threads, rows = counted(track.threads, "thread"), counted(len(track.rows), "row")
    count = f"{rows} of {len(track.rows) + len(track.incomplete)}" if track.incomplete else rows
    yield f"{track.device}, {threads}, {count}; speed-ups over {track.reference}:"
    align = ("left", "left", "left", "left", "right", "left")
    table = [_line(one, is_reference=one.column == track.reference) for one in track.columns]
    yield tabulate(table, HEADINGS, tablefmt="plain", disable_numparse=True, colalign=align)
    if track.incomplete:
        yield fold(f"Rows left out, as a ranked column has no time in them: {names(track.incomplete)}")
    left_out = [one.column for one in track.columns if one.speed_up is None]
    if left_out:
        yield fold(f"Not ranked, as too few rows would remain in common: {', '.join(left_out)}")


def _line(one: SummaryColumn, *, is_reference: bool) -> tuple[str, ...]:
    if one.speed_up is None or one.ranks is None or one.of_best is None:
        return NONE, "", NONE, NONE, str(one.fastest_in), one.column
    speed_up, interval = ("1", "") if is_reference else compare.ratio_words(one.speed_up)
    best, worst = one.ranks
    ranks = str(best) if best == worst else f"{best}–{worst}"
    return speed_up, interval, ranks, f"{one.of_best:.3f}", str(one.fastest_in), one.column


def names(rows: Sequence[str]) -> str:
    """Name the first rows, and count the others."""
    more = [f"{len(rows) - NAMED} more"] if len(rows) > NAMED else []
    return ", ".join([*rows[:NAMED], *more])
