"""Writes the records of a run while it runs, and reads them back after a kill at any moment.

run.json           the description of the run: see ``manifest``
records.jsonl      one record per line, appended and flushed; never rewritten
unfinished.jsonl   turns of the processes under way; after a kill, the next start makes records of them
                   (both with a checksum in every line: see ``lines``)

Of a run that is kept in a repository, ``records.jsonl.gz`` may be in the place of the records.

The files of earlier runs are in ``history/``: see ``archive``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.cell import Cell
from bench.record import Record

from .. import garbage_collection
from ..refusal import naming
from .lines import PACKED, NewerSchema, StoredLines, append
from .record_schema import SampleSchema, TurnSchema, record_of, verify

#: The name of a cell, the round, the attempt, and when the process was started.
Process = tuple[str, int, int, float]

RECORDS = "records.jsonl"
UNFINISHED = "unfinished.jsonl"


def read_lines(path: Path, damaged: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of ``path``; a damaged line, which a kill may have cut short, is told to ``damaged``."""
    return (values for _place, values in StoredLines(path, [] if damaged is None else damaged))


def end_last_line(path: Path) -> None:
    """Close a half-written last line, so that what is appended next starts a line of its own."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def path_of(folder: Path) -> Path:
    """Return the file of a run's records: the packed one where there is no other and that one is there."""
    stored = folder / RECORDS
    packed = stored.with_name(RECORDS + PACKED)
    return packed if os.path.lexists(packed) and not os.path.lexists(stored) else stored


def read(
    folder: Path, damaged: list[str] | None = None, cut: list[str] | None = None, *, fewest: int = 0
) -> list[Record]:
    """Read every record of a run, including those of processes that were killed.

    A line that is not a whole record is left out; ``damaged`` gets its place and the reason, and so does ``cut`` where
    the file of the records ends there. ``cut`` also gets a reason where that file has fewer than ``fewest`` lines.
    Raises Refused for a file that cannot be read, and NewerSchema when a newer benchmatrix wrote it.
    """
    left_out: list[str] = [] if damaged is None else damaged
    with garbage_collection.paused():
        records = {_key(record): record for record in _records(path_of(folder), left_out, cut, fewest)}
        for record in fold(StoredLines(folder / UNFINISHED, left_out)):
            # A kill between folding and removing leaves a process in both files.
            if _key(record) not in records or _process(records[_key(record)]) != _process(record):
                records[_key(record)] = record
        return list(records.values())


def _key(record: Record) -> tuple[Cell, int, int]:
    return record.cell, record.round, record.attempt


def _process(record: Record) -> Process:
    """Identify a process: a cell that had no environment is measured later as the same attempt."""
    return record.cell.name, record.round, record.attempt, record.started_at


def count_lines(folder: Path) -> int:
    """Count the lines of the records of a run under way, damaged ones included; 0 where there is no file."""
    path = folder / RECORDS
    if not path.exists():
        return 0
    with naming(path), path.open("rb") as file:
        return sum(1 for _line in file)


def _records(path: Path, damaged: list[str], cut: list[str] | None = None, fewest: int = 0) -> Iterator[Record]:
    lines = StoredLines(path, damaged, cut, fewest)
    for place, values in lines:
        try:
            yield record_of(values, place)
        except NewerSchema:
            raise
        except ValueError as error:
            lines.leave_out(str(error))


def fold(lines: StoredLines) -> Iterator[Record]:
    """Make records of the turns of processes that have no record; a process without a turn gets none."""
    under_way: dict[tuple[str, int, int], Record] = {}
    for place, line in lines:
        try:
            if "record" in line:
                if not isinstance(line["record"], dict):
                    raise ValueError("record: must be a table")
                record = record_of(line["record"], place)
                under_way[record.cell.name, record.round, record.attempt] = record
            else:
                verify(TurnSchema, line)
                cell, number, attempt = line["of"]
                if (cell, number, attempt) in under_way:
                    key = cell, number, attempt
                    taken = {name: line["turn"].get(name, []) for name in SampleSchema.model_fields}
                    under_way[key] = extended(under_way[key], taken)
        except NewerSchema:
            raise
        except ValueError as error:
            lines.leave_out(str(error))
    return (record for record in under_way.values() if record.sample_ns)


def extended(record: Record, taken: Mapping[str, list[int]]) -> Record:
    """Return ``record`` with the samples of one more turn; ``taken`` holds the values that each of its lists gets."""
    changes: dict[str, Any] = {name: getattr(record, name) + values for name, values in taken.items()}
    return replace(record, **changes)


class Journal:
    """Appends to the files of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with naming(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for name in (RECORDS, UNFINISHED):
                end_last_line(folder / name)
        self.settle()

    def settle(self) -> list[Record]:
        """Turn the notes about processes that ended without a record into records; return them."""
        settled = []
        known = self.recorded()
        for record in fold(StoredLines(self.folder / UNFINISHED, [])):
            if _process(record) not in known:
                self.append(record)
                settled.append(record)
        self.forget()
        return settled

    def append(self, record: Record) -> None:
        """Append a record and sync it to the disk."""
        self._append(RECORDS, record.to_json(), sync=True)

    def recorded(self) -> set[Process]:
        """Return which processes have a record on the disk: cell, round, attempt, and when it was started."""
        return set(map(_process, _records(self.folder / RECORDS, [])))

    def begin(self, record: Record) -> None:
        """Note that a process can be timed; its record is ``record`` plus the turns that follow."""
        self._note({"record": record.to_json()})

    def turn(self, cell: str, number: int, attempt: int, samples: Mapping[str, list[int]]) -> None:
        """Note one turn of the process that measures the cell of this name in round ``number``.

        The note is flushed but not synced: the kernel keeps it when this process is killed.
        """
        self._note({"turn": dict(samples), "of": [cell, number, attempt]})

    def forget(self) -> None:
        """Remove the notes: every process has its record."""
        with naming(self.folder / UNFINISHED):
            (self.folder / UNFINISHED).unlink(missing_ok=True)

    def _note(self, line: dict[str, Any]) -> None:
        self._append(UNFINISHED, line, sync=False)

    def _append(self, name: str, values: Mapping[str, Any], *, sync: bool) -> None:
        """Append a line; raises Refused where the disk does not take it, and leaves what was there before."""
        path = self.folder / name
        with naming(path):
            append(path, values, sync=sync)
