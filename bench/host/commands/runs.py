"""Lists the runs of a study, and names, keeps, releases or removes one of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.record import OK, UNSUPPORTED

from ..counts import counted
from ..refusal import Refused, harmless
from ..study import location
from . import announce, run_choice, study_options

if TYPE_CHECKING:
    from ..storage.stored_runs import StoredRun

#: The column that tells whether a run ended, and whether another one may take its place.
FINISHED, UNFINISHED, KEPT, DAMAGED = "finished", "unfinished", "kept", "damaged"


class Count(NamedTuple):
    """How many cells of a run were measured, and how many failed."""

    ok: int
    failed: int
    #: Of those that are ok: reports withhold their times, as other programs disturbed them.
    withheld: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    location.add_argument(parser)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--label", nargs=2, metavar=("RUN", "NAME"), help="give a run a name; '' takes it away")
    action.add_argument(
        "--keep", metavar="RUN", help="keep a run in its folder: no other run takes its place, and it is not removed"
    )
    action.add_argument("--release", metavar="RUN", help="keep a run no longer")
    action.add_argument("--remove", metavar="RUN", help="delete the records and the report of a run")


def run(options: argparse.Namespace) -> int:
    from ..storage import archive, stored_runs
    from ..storage.run_lock import exclusive

    study = study_options.read_study(options)
    folder = archive.folder_of(options.root, study.settings.name)
    named = options.label[0] if options.label else None
    # An empty name, as of a variable that is not set, names no run.
    chosen = next((run for run in (named, options.keep, options.release, options.remove) if run is not None), None)
    if chosen is None:
        announce("\n".join(listing(stored_runs.stored_runs(folder), options.root)))
        return 0
    # A run that is under way describes itself anew when it ends.
    with exclusive(options.root):
        found = stored_runs.find(folder, chosen, alone=options.remove is not None)
        if options.remove is not None:
            freed = stored_runs.remove(found)
            announce(f"Removed the run {found.id}: {freed / 1e6:.1f} MB")
            return 0
        label = _label(options.label[1]) if options.label else None
        changed = stored_runs.change(found, label=label, kept=None if options.label else options.keep is not None)
    announce("\n".join(listing([changed], options.root)))
    return 0


def _label(text: str) -> str:
    try:
        return text and run_choice.label(text)
    except argparse.ArgumentTypeError as error:
        raise Refused(f"--label: {error}") from None


def listing(runs: Sequence[StoredRun], root: Path) -> Iterator[str]:
    """Give the lines of a table with two lines for each run, and a third one where times are withheld."""
    from tabulate import tabulate

    if not runs:
        yield "This study has no runs. Measure it first; a run that is to be found again can have a name: --name NAME"
        return
    head = ("run", "name", "profile", "cells", "measured", "")
    counts = [_count(run) for run in runs]
    # As headers, these would make the columns wider than a terminal.
    table = tabulate([head, *map(_row, runs, counts)], tablefmt="plain", disable_numparse=True)
    first, *lines = table.split("\n")
    yield first.rstrip()
    for run, count, line in zip(runs, counts, lines, strict=True):
        yield line.rstrip()
        yield f"    {_line(run.problem) if run.problem else _details(run, root)}"
        if count is not None and count.withheld:
            verb = "is" if count.withheld == 1 else "are"
            yield f"    {count.withheld} of {counted(count.ok, 'time')} {verb} withheld: other programs computed, too"


def _row(run: StoredRun, count: Count | None) -> tuple[str, ...]:
    from ..reporting.words.numbers import duration

    described = run.manifest
    state = FINISHED if described.finished else UNFINISHED
    if run.problem is not None:
        return run.id, "", "", "", "", DAMAGED
    state = KEPT if described.kept and described.finished else f"{state}, {KEPT}" if described.kept else state
    name, profile = _line(described.label), _line(described.profile.name)
    # A run that is under way, or was killed, has noted no time yet.
    measured = duration(described.seconds.elapsed) if described.seconds.elapsed else "-"
    cells = "records damaged" if count is None else f"{count.ok} ok{f', {count.failed} failed' if count.failed else ''}"
    return run.id, name, profile, cells, measured, state


def _line(text: str) -> str:
    """Return a text of a stored file as one line."""
    return " ".join(harmless(text).split())


def _count(run: StoredRun) -> Count | None:
    """Count the cells of a run; None where its records are damaged. Unsupported ones neither are ok nor failed."""
    from ..analysis.noise_watch import withheld_cells

    if run.problem is not None:
        return None
    try:
        records = run.records()
    except Refused:
        return None
    statuses = {record.cell: record.status for record in records}
    ok = {cell for cell, status in statuses.items() if status == OK}
    # Of a trial no time is shown.
    withheld = set() if run.manifest.profile.trial else ok & withheld_cells(records)
    failed = sum(status not in (OK, UNSUPPORTED) for status in statuses.values())
    return Count(len(ok), failed, len(withheld))


def _details(run: StoredRun, root: Path) -> str:
    from ..storage.archive import HISTORY

    # In the history, the folder has the name of the run.
    folder = run.folder.parent if run.folder.parent.name == HISTORY else run.folder
    place = folder.relative_to(root) if folder.is_relative_to(root) else folder
    environments = ", ".join(run.manifest.environments) or "no environment"
    return f"{_line(run_choice.minute(run.manifest.started))}  {_line(environments)}  {place}"
