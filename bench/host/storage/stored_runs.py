"""Finds the runs of a study, and names, keeps and removes them.

reports/<study>/                   the last run, in its history/ those before it
reports/<study>/trial/             the last trial, in its history/ those before it
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.record import Record

from ..refusal import Refused, naming
from ..setup.staging import write_whole
from ..study.suggestion import nearest_name, unknown
from . import journal, manifest, run_records
from .archive import HISTORY, TRIAL, files_of
from .file_names import folder_name
from .lines import NewerSchema
from .manifest import Manifest

#: Folders that a message names.
MOST_NAMED = 5


@dataclass(frozen=True)
class StoredRun:
    """One run and the folder that it lies in; a damaged description is an empty one."""

    folder: Path
    manifest: Manifest
    #: What is wrong with its description; None where it could be read.
    problem: str | None

    @property
    def id(self) -> str:
        """Return what names this run and no other: the name of its folder in the history, or that of the run."""
        in_history = self.folder.parent.name == HISTORY
        return self.folder.name if in_history else folder_name(self.manifest.run or "unknown")

    def records(self) -> list[Record]:
        """Read the records of the run; raises Refused where a finished run has lost some."""
        return run_records.read(self.folder, self.manifest)


def no_run(folder: Path) -> str:
    """Say that a folder holds no run, and what may be meant: if there is no such folder, one with a similar name."""
    similar = None if folder.exists() else nearest_name(folder.name, _folders_with_runs(folder.parent))
    inside = _folders_with_runs(folder)
    if similar is not None:
        return f"{folder} holds no run; did you mean {folder.parent / similar}?"
    if inside:
        more = f", … ({len(inside) - MOST_NAMED} more)" if len(inside) > MOST_NAMED else ""
        return f"{folder} holds no run, but folders in it do: {', '.join(inside[:MOST_NAMED])}{more}."
    return f"{folder} holds no run."


def _folders_with_runs(folder: Path) -> list[str]:
    try:
        return sorted(path.parent.name for path in folder.glob(f"*/{manifest.RUN}"))
    except OSError:
        return []


def stored_runs(folder: Path) -> list[StoredRun]:
    """List the runs below the folder of a study, the newest first."""
    found = [run for each in _run_folders(folder) if (run := stored_run(each)) is not None]
    return sorted(found, key=lambda run: (run.manifest.started, run.id), reverse=True)


def _run_folders(folder: Path) -> Iterator[Path]:
    for latest in (folder, folder / TRIAL):
        yield latest
        with naming(latest):
            earlier = latest / HISTORY
            yield from sorted(earlier.iterdir()) if earlier.is_dir() else ()


def stored_run(folder: Path) -> StoredRun | None:
    """Return the run in a folder; None where there is none."""
    problems: list[str] = []
    try:
        found = manifest.read(folder, problems)
    except NewerSchema as error:
        return StoredRun(folder, Manifest(), str(error))
    if found is None and not (folder / journal.RECORDS).is_file():
        return None
    return StoredRun(folder, found or Manifest(), None if found else "; ".join(problems) or "it has no run.json")


def find(folder: Path, name: str, *, alone: bool = False) -> StoredRun:
    """Return the run of this id, or the newest of this label, or the only one whose id begins so. Raises Refused.

    A name that may mean two runs is refused: the label of one and the beginning of the other's id, and, with ``alone``,
    the label of several.
    """
    runs = stored_runs(folder)
    labelled = [run for run in runs if name and run.manifest.label == name]
    begun = [run for run in runs if name and run.id.startswith(name) and run.id != name]
    meant = [*labelled, *(run for run in begun if run not in labelled)] if labelled else []
    if not any(run.id == name for run in runs) and (len(meant) > len(labelled) or (alone and len(meant) > 1)):
        raise Refused(f"{name!r} may mean several runs: {', '.join(run.id for run in meant)}. Give one of these.")
    for chosen in (
        [run for run in runs if run.id == name],
        labelled[:1],
        begun,
    ):
        if len(chosen) == 1:
            return chosen[0]
        if chosen:
            raise Refused(f"{name!r} begins the names of several runs: {', '.join(run.id for run in chosen)}.")
    known = dict.fromkeys(text for run in runs for text in (run.manifest.label, run.id) if text)
    raise Refused(f"{unknown('run', name, known)} They are listed by: nox -s runs")


def change(run: StoredRun, *, label: str | None = None, kept: bool | None = None) -> StoredRun:
    """Give a run another label, or keep or release it, in its description. Raises Refused."""
    path = run.folder / manifest.RUN
    if run.problem is not None:
        raise Refused(f"{path} cannot be changed: {run.problem}.")
    changes = {key: value for key, value in (("label", label), ("kept", kept)) if value is not None}
    with naming(path):
        # What another version wrote stays as it is.
        write_whole(path, json.dumps({**json.loads(path.read_bytes()), **changes}, indent=1))
    return stored_run(run.folder) or run


def remove(run: StoredRun) -> int:
    """Delete the files of a run, and nothing beside them; return their bytes. Raises Refused for one that is kept."""
    if run.manifest.kept:
        raise Refused(f"The run {run.id} is kept. To remove it, release it first: nox -s runs -- --release {run.id}")
    freed = 0
    with naming(run.folder):
        for path in files_of(run.folder):
            if path.is_dir() and not path.is_symlink():
                freed += sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
                shutil.rmtree(path)
            else:
                freed += path.lstat().st_size
                os.unlink(path)
        # An earlier version moved bisections with the run.
        if run.folder.parent.name == HISTORY and not any(run.folder.iterdir()):
            run.folder.rmdir()
    return freed
