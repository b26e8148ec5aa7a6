"""Adds runs to a history: a folder with one small file for each run, as in git."""

from __future__ import annotations

from pathlib import Path

from ..refusal import Refused
from .lines import NewerSchema
from .run_summary import SUFFIX, RunSummary, read, write


def add(folder: Path, summary: RunSummary) -> tuple[Path, bool]:
    """Write the file of a run; return its path, and whether it replaced a file of the same run.

    Raises Refused where that file has more processes of a cell: the run has lost some since then, such as by damaged
    lines, and its history would lose them, too. A file that cannot be read is replaced.
    """
    path = folder / f"{summary.facts.run}{SUFFIX}"
    replaced = path.exists()
    if replaced:
        _verify_no_loss(path, summary)
    return write(folder, summary), replaced


def _verify_no_loss(path: Path, summary: RunSummary) -> None:
    try:
        there = read(path)
    except NewerSchema:
        raise
    except Refused:
        return
    now = {cell.key: len(cell.step_s) for cell in summary.cells}
    for cell in there.cells:
        before, after = len(cell.step_s), now.get(cell.key, 0)
        if after < before:
            raise Refused(
                f"{path} is not replaced, because it has more: of {cell.name} it has the times of {before} processes, "
                f"and the run that is added has {after}. Restore the records of the run from a copy. To replace the "
                "file all the same, remove it first."
            )
