"""Moves the files of a run to its history or back, whole: a command that is killed meanwhile leaves them together.

They go to a folder of their own first, and that is renamed. Where a command was killed, the next one moves what is in
it back to the files that stayed. This needs the standard library alone, as every command looks for such a folder.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from ..project import REPORTS
from ..refusal import Refused, naming

MOVING = ".moving"
#: The folder of a study's bisections.
BISECTIONS = "bisect"
#: Where runs and trainings lie, below the folder of reports: a study's, beside it its trials, and pairs of a bisection.
PLACES = ("*", "*/*", f"*/{BISECTIONS}/*/*")


def away(files: Iterable[Path], folder: Path, target: Path) -> None:
    """Move ``files`` of ``folder`` to ``target``, which must not exist. Raises OSError and Refused."""
    moving = folder / MOVING
    moving.mkdir()
    for path in files:
        os.replace(path, moving / path.name)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        _rename(moving, target, folder)
    except Refused:
        restore(folder)
        raise


def back(archived: Path, folder: Path) -> None:
    """Move everything in ``archived`` to ``folder``. Raises OSError and Refused."""
    _rename(archived, folder / MOVING, folder)
    restore(folder)


def _rename(source: Path, target: Path, folder: Path) -> None:
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # A copy would not be whole at once.
        history = (source if target.parent == folder else target).parent
        raise Refused(
            f"{history} is on another file system than {folder}; runs move within one. Put the whole folder {folder} "
            "there and a link in its place, or the history back into it."
        ) from None


def restore(folder: Path) -> None:
    """Move back what a command left that was killed while it moved the files of ``folder``. Raises OSError."""
    moving = folder / MOVING
    if moving.is_dir():
        for path in moving.iterdir():
            os.replace(path, folder / path.name)
        moving.rmdir()


def unfinished(root: Path) -> list[Path]:
    """List the folders of the project at ``root`` some of whose files a killed command has left on their way."""
    return [moving.parent for place in PLACES for moving in root.glob(f"{REPORTS}/{place}/{MOVING}")]


def restore_all(root: Path) -> None:
    """Restore every folder of the project. Raises Refused."""
    for folder in unfinished(root):
        with naming(folder):
            restore(folder)
