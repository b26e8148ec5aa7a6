"""Names the logs of workers, and reads the end of one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from bench.cell import Cell
from bench.record import Record

from .file_names import slug

FOLDER = "logs"
#: Of a log so many lines are shown, and so many bytes at most.
LINES, BYTES = 30, 4096


def path_of(folder: Path, cell: Cell, label: str) -> Path:
    """Return the path of a worker's log, in the folder of a run; ``label`` tells it from others of the cell."""
    return folder / FOLDER / f"{slug(cell.column, cell.row)}.{label}.log"


def label_of(number: int, attempt: int) -> str:
    """Return the label of a process in round ``number``, counted from 0."""
    return f"r{number + 1}.a{attempt}"


def tail(folder: Path, record: Record) -> str | None:
    """Return the name of a process's log and its last lines; None where it is empty or not there any more."""
    path = path_of(folder, record.cell, label_of(record.round, record.attempt))
    try:
        # A worker may have put something else there: a link to another file, or a pipe, which nobody writes to.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - BYTES))
            end = file.read(BYTES)
    except OSError:
        return None
    lines = end.decode("utf-8", "replace").splitlines()
    # The first line begins before what was read.
    lines = lines[1:] if size > BYTES and len(lines) > 1 else lines
    shown = "\n".join(lines[-LINES:]).strip("\n")
    return f"{FOLDER}/{path.name}\n{shown}" if shown.strip() else None
