"""Watches runs over time: appends one to a history of small files, and shows when and by how much cells changed."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..counts import counted
from ..project import SERIES
from ..refusal import Refused, harmless
from ..study import location
from . import announce, cell_filter, exit_codes, run_choice, series_gate, series_words, study_options
from .folding import fold

if TYPE_CHECKING:
    from ..analysis.series import RunSeries, SeriesChange
    from ..analysis.series_gate import SeriesJudged
    from ..storage.accepted_changes import Acceptance

#: Changes and problems that are printed without --all.
MOST_CHANGES, MOST_PROBLEMS = 20, 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    parser.add_argument(
        "--folder",
        type=location.path_option,
        metavar="FOLDER",
        help="the history: series/<study> by default; commit it, or share it",
    )
    parser.add_argument(
        "--add", action="append", default=[], metavar="RUN", help="first add a run: its folder or its name"
    )
    cell_filter.add_arguments(parser)
    parser.add_argument("--last", type=_count, metavar="N", help="look at the last N runs only")
    parser.add_argument(
        "--relative",
        action="store_true",
        help="watch the ratios to the baseline instead of times: what slows all cells of a run alike cancels",
    )
    parser.add_argument("--all", action="store_true", help="print every change and what changed with it")
    parser.add_argument(
        "--accept",
        type=_reason,
        metavar="REASON",
        help="accept what became slower up to the newest run, in the chosen cells, so that --fail-if does not fail "
        "because of it; the reason, such as 'torch 2.16 adds a check', is kept in accepted.toml in the history",
    )
    parser.add_argument(
        "--fail-if",
        type=exit_codes.gate_limit,
        metavar="slower:5%",
        help="exit with 3 where the newest change of a cell made it slower by more than this, where nothing can be "
        "judged, or where a file was left out",
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 1")
    return int(text)


def _reason(text: str) -> str:
    from ..storage.accepted_changes import LONGEST_REASON

    reason = text.strip()
    if not reason or not reason.isprintable() or len(reason) > LONGEST_REASON:
        raise argparse.ArgumentTypeError(f"a reason is a line of 1 to {LONGEST_REASON} printable characters")
    return reason


def run(options: argparse.Namespace) -> int:
    from ..analysis import series
    from ..analysis.series_gate import judge
    from ..storage import accepted_changes, run_history

    folder = options.folder or options.root / SERIES / study_options.read_study(options).settings.name
    if folder.exists() and not folder.is_dir():
        raise Refused(f"--folder: {folder} is not a folder. Name that of a history.")
    for name in options.add:
        announce(_add(options, folder, name))
    problems: list[str] = []
    found = series.collect(
        run_history.read_folder(folder, problems, options.last),
        cell_filter.chosen(options),
        relative=options.relative,
    )
    if not found.runs and problems:
        _tell(problems, every=options.all)
        raise Refused(f"{folder} holds no run that can be read. Restore its files from a copy, such as one in git.")
    if not found.runs:
        place = "" if options.folder is None else f" --folder {shlex.quote(str(folder))}"
        raise Refused(f"{folder} holds no runs. Add one: nox -s series -- --add reports/<study>{place}")
    cell_filter.verify(options, found.cells)
    changes = series.find_changes(found)
    accepted = accepted_changes.read(folder)
    announce("\n".join(map(fold, _lines(options, found, changes, accepted))))
    _tell(problems, every=options.all)
    if options.accept is not None:
        judged = judge(found, changes, options.fail_if or 0.0, accepted)
        announce(_accept(options, folder, found, judged))
        accepted = accepted_changes.read(folder)
    if options.fail_if is None:
        return exit_codes.EXIT_OK
    return series_gate.exit_code(options, found, changes, problems, accepted)


def _accept(options: argparse.Namespace, folder: Path, found: RunSeries, judged: SeriesJudged) -> str:
    """Keep that what became slower is accepted, and say of how many cells. Raises Refused where nothing did."""
    from ..storage import accepted_changes

    if not judged.slower:
        raise Refused(
            "--accept: the newest change of no chosen cell made it slower for certain, or all of these are accepted "
            "already. Nothing was written."
        )
    patterns = {name: getattr(options, name) for name in cell_filter.OPTIONS}
    path = accepted_changes.add(
        folder, accepted_changes.Acceptance(run=found.runs[-1].run, reason=options.accept, **patterns)
    )
    return f"Accepted in {path}: {counted(len(judged.slower), 'cell')} that became slower. Commit it with the history."


def _tell(problems: Sequence[str], *, every: bool) -> None:
    """Name what is left out of the history; of many the first ones, and how many more there are."""
    for problem in problems[: None if every else MOST_PROBLEMS]:
        print(harmless(f"Left out: {problem}"), file=sys.stderr)
    if len(problems) > MOST_PROBLEMS and not every:
        print(f"and {len(problems) - MOST_PROBLEMS} more that were left out: --all", file=sys.stderr)


def _add(options: argparse.Namespace, folder: Path, name: str) -> str:
    """Add a run to the history; say where it is, and whether it replaced a file. Raises Refused."""
    from ..storage import run_history

    source = run_choice.locate(options, name)
    summary = run_choice.load(source)
    if summary.facts.trial:
        raise Refused(f"{summary.facts.name} is a trial: its times mean nothing. Add a run of another profile.")
    _verify_finished(source, summary.facts.name)
    path, replaced = run_history.add(folder, summary)
    place = path.relative_to(options.root) if path.is_relative_to(options.root) else path
    return f"{'Replaced' if replaced else 'Added'} {place}"


def _verify_finished(source: Path, name: str) -> None:
    """Raise Refused for a run that is under way or was interrupted; a file of a history does not say."""
    from ..storage import run_records

    described = run_records.describe(source) if source.is_dir() else None
    if described is not None and not described.finished:
        raise Refused(
            f"{name} in {source} is not finished: it is under way, or was interrupted. The command that measured it "
            "continues it; add it when that has ended."
        )


def _lines(
    options: argparse.Namespace, found: RunSeries, changes: Sequence[SeriesChange], accepted: Sequence[Acceptance]
) -> Iterator[str]:
    from ..analysis.series_breaks import find_breaks
    from ..analysis.series_gate import reason_for
    from ..statistics.change_points import SHORTEST
    from ..statistics.unpaired import FEWEST

    every, first, last = found.series, found.runs[0].started[:10], found.runs[-1].started[:10]
    cells = len({one.cell.key for one in every})
    yield f"{counted(len(found.runs), 'run')} from {first} to {last}; {counted(cells, 'cell')} in {len(every)} series"
    if found.disturbed:
        yield f"Left out: {counted(found.disturbed, 'time')} of cells, which other programs disturbed."
    breaks = find_breaks(found, relative=options.relative)
    yield from series_words.breaks_in_words(breaks, found, every=options.all)
    if all(len(one.runs) < 2 * SHORTEST for one in every):
        yield f"No series is long enough: a change needs {SHORTEST} runs before it and {SHORTEST} from it on."
        return
    certain, possible = ([one for one in changes if one.is_possible == wanted] for wanted in (False, True))
    few = f", with fewer than {FEWEST} runs on a side"
    for title, listed in (("certain", certain), (f"possible{few}", possible)):
        if not listed:
            continue
        most = len(listed) if options.all else MOST_CHANGES
        yield ""
        yield f"Changes, {title}: {len(listed)}, the newest first, each with its 99 % range of time"
        for one in listed[:most]:
            yield from series_words.change_in_words(one, found, every=options.all)
            reason = reason_for(one, found, accepted)
            if reason is not None:
                yield f"    accepted: {reason}"
        if len(listed) > most:
            yield f"and {len(listed) - most} more: --all"
    if not changes:
        yield "No change of level was found."
