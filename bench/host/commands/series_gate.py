"""Turns what a history shows into an exit code, with one line for each reason that is not success."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..counts import counted
from ..refusal import harmless
from ..system import EXIT_GATE
from . import exit_codes, series_words

if TYPE_CHECKING:
    from ..analysis.series import RunSeries, SeriesChange
    from ..analysis.series_gate import SeriesJudged
    from ..storage.accepted_changes import Acceptance

#: How every message ends where something was not looked at.
NOT_SHOWN = "so nothing shows that nothing is slower"


def exit_code(
    options: argparse.Namespace,
    found: RunSeries,
    changes: Sequence[SeriesChange],
    problems: Sequence[str],
    accepted: Sequence[Acceptance],
) -> int:
    """Return the exit code of ``--fail-if``; ``problems`` are the files and lines that could not be read.

    What could be judged and was not does not pass: a history of which a part is left out, or whose choice leaves
    nothing. Where it only is too short for a verdict, that is told, and no failure: nothing but further nights helps,
    and a job that is red for nine of them is not looked at when a cell becomes slower.
    """
    from ..analysis.series_gate import judge

    judged = judge(found, changes, options.fail_if, accepted)
    said = [
        *(f"Slower by more than {100 * options.fail_if:g} %: {_size(one, found)}" for one in judged.slower),
        *_unjudged(options, found, judged),
    ]
    if problems:
        left_out = counted(len(problems), "file or line", "files or lines")
        said.append(f"Left out of the history: {left_out}, {NOT_SHOWN}. Correct or remove what is named above.")
    passed = (f"Accepted: {_size(one, found)}: {reason}" for one, reason in judged.accepted)
    for line in (*said, *passed, *_not_yet(options, judged)):
        print(harmless(line), file=sys.stderr)
    return EXIT_GATE if said else exit_codes.EXIT_OK


def _size(one: SeriesChange, found: RunSeries) -> str:
    return f"{one.series.cell.name}: {series_words.size_in_words(one)} since {series_words.time_of(found, one)}"


def _unjudged(options: argparse.Namespace, found: RunSeries, judged: SeriesJudged) -> Iterator[str]:
    from ..analysis.series_gate import FEWEST_RUNS

    if not found.series:
        yield f"Nothing was judged, {NOT_SHOWN}: {_no_series(options, found)}"
    elif not judged.judged and _reads_few(options):
        yield f"Nothing was judged, {NOT_SHOWN}: --last {options.last} reads too few; give at least {FEWEST_RUNS}."
    if found.failed:
        first = found.failed[0]
        why = textwrap.shorten(first.reason, exit_codes.LONGEST_REASON) or "no ratio to the baseline"
        cells = counted(len(found.failed), "cell")
        yield f"Measured before, and not in the newest run: {cells}, such as {first.name}: {first.status}: {why}"


def _not_yet(options: argparse.Namespace, judged: SeriesJudged) -> Iterator[str]:
    from ..analysis.series_gate import FEWEST_RUNS
    from ..statistics.unpaired import FEWEST

    if judged.short and not _reads_few(options):
        longest = max(judged.short, key=lambda one: len(one.runs))
        yield (
            f"Not judged yet: {counted(len(judged.short), 'cell')} of the newest run, such as {longest.cell.name} with "
            f"{counted(len(longest.runs), 'comparable run')}; a verdict needs {FEWEST_RUNS}: {FEWEST} before a change "
            f"and {FEWEST} from it on."
        )


def _reads_few(options: argparse.Namespace) -> bool:
    """Tell whether ``--last`` is what makes every series too short."""
    from ..analysis.series_gate import FEWEST_RUNS

    return options.last is not None and options.last < FEWEST_RUNS


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
