"""Moves the run in a folder to the history of its study, whole, and puts it back.

Nothing but ``stored_runs.remove`` ever deletes a run, and only when a person names it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..project import REPORTS
from ..refusal import Refused, naming
from . import moves
from .file_names import folder_name, free
from .manifest import Manifest
from .manifest import read as read_manifest

HISTORY = "history"
#: The folder of trial runs, beside the results that they must not replace.
TRIAL = "trial"
#: The folder of trainings to a result, which are no part of a run.
TRAINING = "training"
#: What lies beside a run in its folder.
BESIDE = (HISTORY, TRIAL, TRAINING, moves.BISECTIONS, moves.MOVING)


class RunIsKept(Refused):
    """The run in a folder is kept there, so no other run can take its place."""


def folder_of(root: Path, study: str, *, trial: bool = False) -> Path:
    """Return the folder of the last run of a study, or of its last trial."""
    folder = root / REPORTS / study
    return folder / TRIAL if trial else folder


def archive(folder: Path) -> Path | None:
    """Move the files of the run in ``folder`` to its history; return where they are, None when there were none.

    Raises RunIsKept for a run that stays where it is, and Refused where the files cannot be moved.
    """
    with naming(folder):
        return _archive(folder)


def put_back(folder: Path, archived: Path) -> Path | None:
    """Archive the run in ``folder``, and put an archived one back in its place; return where the first one is."""
    with naming(folder):
        target = _archive(folder)
        moves.back(archived, folder)
    return target


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files and folders of the run in ``folder``, without its history and what lies beside it."""
    if folder.is_dir():
        yield from (path for path in sorted(folder.iterdir()) if path.name not in BESIDE)


def destination(folder: Path) -> Path | None:
    """Return where the run in ``folder`` would be moved; None where there is none. Raises RunIsKept."""
    return _destination(folder, read_manifest(folder)) if any(files_of(folder)) else None


def _destination(folder: Path, manifest: Manifest | None) -> Path:
    if manifest is not None and manifest.kept:
        shown = manifest.label or manifest.run
        raise RunIsKept(
            f"{folder} has the run {shown!r}, which is kept there. Measure as a trial, or let the next run move it to "
            f"the history: nox -s runs -- --release {folder_name(manifest.run)}"
        )
    return free(folder / HISTORY / folder_name((manifest and manifest.run) or "unknown"))


def _archive(folder: Path) -> Path | None:
    moves.restore(folder)
    moved = list(files_of(folder))
    if not moved:
        return None
    target = _destination(folder, read_manifest(folder))
    moves.away(moved, folder, target)
    return target
