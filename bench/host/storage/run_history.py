"""Adds runs to a history, a folder with one small file for each run, and reads them: each run once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from ..refusal import Refused, naming
from .file_names import folder_name
from .lines import NewerSchema, parsed
from .manifest import RUN
from .run_summary import LARGEST_BYTES, SUFFIX, RunSummary, read, write


def add(folder: Path, summary: RunSummary) -> tuple[Path, bool]:
    """Write the file of a run; return its path, and whether it replaced a file of the same run.

    Raises Refused where the run has no date, and where that file has more processes of a cell: the run has lost some
    since then, such as by damaged lines, and its history would lose them, too. A file that cannot be read is replaced.
    """
    _verify_time(summary, f"The {RUN} of {summary.facts.name}")
    path = folder / f"{summary.facts.run}{SUFFIX}"
    replaced = path.exists()
    if replaced:
        _verify_no_loss(path, summary)
    return write(folder, summary), replaced


def _verify_time(summary: RunSummary, place: str) -> None:
    """Raise Refused where the time of a run is none, such as 2026-13-29: changes are dated by it."""
    started = summary.facts.started
    try:
        if started:
            datetime.fromisoformat(started)
    except ValueError:
        raise Refused(
            f'{place}: "started" is {started!r}, which is no time. Correct it, for example to 2026-11-22 03:17:22.'
        ) from None


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


def read_folder(folder: Path, problems: list[str], last: int | None = None) -> Iterator[RunSummary]:
    """Read the runs of a history, or the last ones, one after the other: thousands of them need not fit into memory.

    Their order is that of the files' names, which begin with the time. A run counts once: copies of its file are left
    out. ``problems`` gets what is left out, with the reason.
    """
    with naming(folder):
        paths = sorted(folder.glob(f"*{SUFFIX}"))
    seen: dict[str, Path] = {}
    for path in paths if last is None else _newest(paths, last):
        try:
            summary = read(path)
            _verify_time(summary, str(path))
        except Refused as error:
            problems.append(str(error))
            continue
        run = summary.facts.run
        own = _original(path, run) or seen.setdefault(run, path)
        if own != path:
            problems.append(f"{path}: has the run {run}, as {own.name} has, and a run counts once. Remove one of them.")
            continue
        problems += summary.damaged
        yield summary


def _newest(paths: Sequence[Path], last: int) -> Sequence[Path]:
    """Return the last paths that have so many runs; a file that cannot be read counts as one."""
    runs: set[str] = set()
    for place in range(len(paths) - 1, -1, -1):
        path = paths[place]
        run = _run_in(path) or path.stem
        if _original(path, run) is None:
            runs.add(run)
        if len(runs) == last:
            return paths[place:]
    return paths


def _original(path: Path, run: str) -> Path | None:
    """Return the file that has the name of a run, where ``path`` is another one and both hold this run."""
    if path.stem == run or folder_name(run) != run:
        return None
    own = path.with_name(f"{run}{SUFFIX}")
    return own if _run_in(own) == run else None


def _run_in(path: Path) -> str | None:
    """Return the name of the run that a file holds, from its first line; None where it has none."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as lines:
            found = parsed(lines.readline(LARGEST_BYTES)).get("run")
    except (OSError, ValueError):
        return None
    return found if isinstance(found, str) else None
