"""Lists the runs of a study, and names, keeps, releases or removes one of them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.cell import Cell
from bench.record import OK, UNSUPPORTED, Record

from ..refusal import Refused, harmless
from ..study import location
from ..study import options as study_options
from . import announce

if TYPE_CHECKING:
    from ..storage.stored_runs import StoredRun

#: The column that tells whether a run ended, and whether another one may take its place.
FINISHED, UNFINISHED, KEPT, DAMAGED = "finished", "unfinished", "kept", "damaged"


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
    from ..storage.stored_runs import label

    try:
        return text and label(text)
    except argparse.ArgumentTypeError as error:
        raise Refused(f"--label: {error}") from None


def listing(runs: Sequence[StoredRun], root: Path) -> Iterator[str]:
    """Give the lines of a table with two lines for each run."""
    from tabulate import tabulate

    if not runs:
        yield "This study has no runs. Measure it first; a run that is to be found again can have a name: --name NAME"
        return
    head = ("run", "name", "profile", "cells", "measured", "")
    # As headers, these would make the columns wider than a terminal.
    table = tabulate([head, *map(_row, runs)], tablefmt="plain", disable_numparse=True)
    first, *lines = table.split("\n")
    yield first.rstrip()
    for run, line in zip(runs, lines, strict=True):
        yield line.rstrip()
        yield f"    {_line(run.problem) if run.problem else _details(run, root)}"


def _row(run: StoredRun) -> tuple[str, ...]:
    from ..reporting.words.numbers import duration

    described = run.manifest
    state = FINISHED if described.finished else UNFINISHED
    if run.problem is not None:
        return run.id, "", "", "", "", DAMAGED
    state = KEPT if described.kept and described.finished else f"{state}, {KEPT}" if described.kept else state
    name, profile = _line(described.label), _line(described.profile.name)
    # A run that is under way, or was killed, has noted no time yet.
    measured = duration(described.seconds.elapsed) if described.seconds.elapsed else "-"
    return run.id, name, profile, _cells(run), measured, state


def _line(text: str) -> str:
    """Return a text of a stored file as one line."""
    return " ".join(harmless(text).split())


def _cells(run: StoredRun) -> str:
    """Count the cells that were measured, those of them that others disturbed, and those that failed.

    Unsupported ones are none of these.
    """
    try:
        records = run.records()
    except Refused:
        return "records damaged"
    statuses = list({record.cell: record.status for record in records}.values())
    counts = {
        "ok": statuses.count(OK),
        "disturbed": 0 if run.manifest.profile.trial else _disturbed(records),
        "failed": sum(status not in (OK, UNSUPPORTED) for status in statuses),
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count or word == "ok")


def _disturbed(records: Sequence[Record]) -> int:
    """Count the cells whose times reports withhold."""
    from ..analysis.noise_watch import unusable
    from ..analysis.quality import withheld

    timed: dict[Cell, list[bool]] = {}
    for record in records:
        if record.status == OK and record.sample_ns:
            timed.setdefault(record.cell, []).append(unusable(record))
    return sum(withheld(sum(found), len(found)) for found in timed.values())


def _details(run: StoredRun, root: Path) -> str:
    from ..storage.archive import HISTORY

    # In the history, the folder has the name of the run.
    folder = run.folder.parent if run.folder.parent.name == HISTORY else run.folder
    place = folder.relative_to(root) if folder.is_relative_to(root) else folder
    environments = ", ".join(run.manifest.environments) or "no environment"
    return f"{_line(run.manifest.started[:16])}  {_line(environments)}  {place}"
