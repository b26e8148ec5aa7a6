"""Turns what a history shows into an exit code, with one line for each reason that is not success."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import harmless
from . import exit_codes, series_words

if TYPE_CHECKING:
    from ..analysis.series import RunSeries, SeriesChange
    from ..analysis.series_gate import SeriesJudged

#: How every message ends where something was not looked at.
NOT_SHOWN = "so nothing shows that nothing is slower"


def exit_code(
    options: argparse.Namespace, found: RunSeries, changes: Sequence[SeriesChange], problems: Sequence[str]
) -> int:
    """Return the exit code of ``--fail-if``; ``problems`` are the files and lines that could not be read.

    A lack of evidence does not pass, as in a run: neither a history that is too short for a verdict, nor one of which
    a part is left out.
    """
    from ..analysis.series_gate import judge

    judged = judge(found, changes, options.fail_if)
    said = [
        *(_slower(one, found, options.fail_if) for one in judged.slower),
        *_unjudged(options, found, judged),
    ]
    if problems:
        left_out = counted(len(problems), "file or line", "files or lines")
        said.append(f"Left out of the history: {left_out}, {NOT_SHOWN}. Correct or remove what is named above.")
    for line in said:
        print(harmless(line), file=sys.stderr)
    return exit_codes.EXIT_GATE if said else exit_codes.EXIT_OK


def _slower(one: SeriesChange, found: RunSeries, limit: float) -> str:
    size, since = series_words.size_in_words(one), series_words.time_of(found, one)
    return f"Slower by more than {100 * limit:g} %: {one.series.cell.name}: {size} since {since}"


def _unjudged(options: argparse.Namespace, found: RunSeries, judged: SeriesJudged) -> Iterator[str]:
    from ..analysis.series_gate import FEWEST_RUNS
    from ..statistics.unpaired import FEWEST

    needs = f"a verdict needs {FEWEST_RUNS}: {FEWEST} before a change and {FEWEST} from it on"
    if not found.series:
        yield f"Nothing was judged, {NOT_SHOWN}: {_no_series(options, found)}"
    elif not judged.judged:
        longest = counted(max(len(one.runs) for one in found.series), "comparable run")
        yield f"Nothing was judged, {NOT_SHOWN}: the longest series has {longest}, and {needs}. {_too_short(options)}"
    elif judged.short:
        first = judged.short[0]
        yield (
            f"Not judged yet: {counted(len(judged.short), 'cell')} of the newest run, such as {first.cell.name} with "
            f"{counted(len(first.runs), 'comparable run')}; {needs}. Add more runs, or choose the others with "
            "--environment, --workload or --mode."
        )


def _no_series(options: argparse.Namespace, found: RunSeries) -> str:
    """Say why no chosen cell has a value in any run, and what to do."""
    if found.disturbed:
        return f"other programs disturbed {counted(found.disturbed, 'time')}, and there is no other. Add quieter runs."
    if options.relative:
        return (
            "no chosen cell has a ratio to the baseline. Measure the baseline and another column in the same run, or "
            "watch times: without --relative."
        )
    return "no chosen cell has a time. nox -s show tells why, with the file of a run."


def _too_short(options: argparse.Namespace) -> str:
    from ..analysis.series_gate import FEWEST_RUNS

    if options.last is not None and options.last < FEWEST_RUNS:
        return f"--last {options.last} reads too few: give at least {FEWEST_RUNS}."
    return "The history is too short yet. Add more runs; until then the exit code is 3."
