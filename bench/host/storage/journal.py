"""Writes the records of a run while it runs, and reads them back after a kill at any moment.

run.json           the description of the run: see ``manifest``
records.jsonl      one record per line, appended and flushed; never rewritten
unfinished.jsonl   turns of the processes under way; after a kill, the next start makes records of them
history/<run>/     the files of earlier runs
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.record import Record

from .manifest import read as read_manifest

RECORDS = "records.jsonl"
UNFINISHED = "unfinished.jsonl"
HISTORY = "history"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of ``path``; a line that a kill or a full disk cut short is skipped."""
    if not path.exists():
        return
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                values = json.loads(line)
            except ValueError:
                continue
            if isinstance(values, dict):
                yield values


def end_last_line(path: Path) -> None:
    """Close a half-written last line, so that what is appended next starts a line of its own."""
    if not path.exists() or path.stat().st_size == 0:
        return
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def read(folder: Path) -> list[Record]:
    """Read every record of a run, including those of processes that were killed.

    Raises ValueError when a newer benchmatrix wrote them.
    """
    records: dict[tuple[Any, ...], Record] = {}
    for values in read_lines(folder / RECORDS):
        record = Record.from_json(values)
        records[record.cell, record.round, record.attempt] = record
    for record in fold(read_lines(folder / UNFINISHED)):
        # A kill between folding and removing leaves a process in both files.
        records.setdefault((record.cell, record.round, record.attempt), record)
    return list(records.values())


def fold(lines: Iterator[dict[str, Any]]) -> Iterator[Record]:
    """Make records of the turns of processes that have no record; a process without a turn gets none."""
    under_way: dict[tuple[Any, ...], Record] = {}
    for line in lines:
        if "record" in line:
            record = Record.from_json(line["record"])
            under_way[record.cell, record.round, record.attempt] = record
        elif "turn" in line:
            key = next((k for k in under_way if [k[0].name, k[1], k[2]] == line["of"]), None)
            if key is not None:
                under_way[key] = extended(under_way[key], line["turn"])
    return (record for record in under_way.values() if record.sample_ns)


def extended(record: Record, taken: Mapping[str, list[int]]) -> Record:
    """Return ``record`` with the samples of one more turn; ``taken`` holds the values that each of its lists gets."""
    changes: dict[str, Any] = {name: getattr(record, name) + values for name, values in taken.items()}
    return replace(record, **changes)


class Journal:
    """Appends to the files of one run."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        for name in (RECORDS, UNFINISHED):
            end_last_line(folder / name)
        self.settle()

    def settle(self) -> list[Record]:
        """Turn the notes about processes that ended without a record into records; return them."""
        settled = []
        known = {(r.cell, r.round, r.attempt) for r in map(Record.from_json, read_lines(self.folder / RECORDS))}
        for record in fold(read_lines(self.folder / UNFINISHED)):
            if (record.cell, record.round, record.attempt) not in known:
                self.append(record)
                settled.append(record)
        (self.folder / UNFINISHED).unlink(missing_ok=True)
        return settled

    def append(self, record: Record) -> None:
        """Append a record and sync it to the disk."""
        with (self.folder / RECORDS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(record.to_json()) + "\n")
            file.flush()
            os.fsync(file.fileno())

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
        (self.folder / UNFINISHED).unlink(missing_ok=True)

    def _note(self, line: dict[str, Any]) -> None:
        with (self.folder / UNFINISHED).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def archive(folder: Path) -> Path | None:
    """Move the files of the run in ``folder`` to its history; return where they are, None when there were none."""
    manifest = read_manifest(folder)
    kept = [path for path in folder.iterdir() if path.name != HISTORY] if folder.is_dir() else []
    if not kept:
        return None
    name = (manifest and manifest.run) or "unknown"
    target = folder / HISTORY / "".join(c if c.isalnum() or c in "-_" else "-" for c in name)
    number = 1
    while target.exists():
        number += 1
        target = target.with_name(f"{target.name.partition('.')[0]}.{number}")
    target.mkdir(parents=True)
    for path in kept:
        os.replace(path, target / path.name)
    return target
