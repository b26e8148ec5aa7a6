"""Tests that an interrupt at any place of a record's way to the disk loses neither the record nor its turns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from laboratory import A, B

from bench.cell import Cell
from bench.host.executors.events import Event, Finished, Ready, TurnTaken
from bench.host.measuring.recorder import Recorder
from bench.host.storage import journal, lines
from bench.host.storage.journal import Journal, extended
from bench.record import OK, Record

TAKEN = {"sample_steps": [3], "sample_ns": [10], "sample_cpu_ns": [9], "sample_turn": [0], "sample_wait_ns": [0]}


class Interrupted(Journal):
    """A journal in which appending a record is interrupted so many times, before or after the record is written."""

    def __init__(self, folder, when: str, times: int = 1) -> None:
        super().__init__(folder)
        self._when, self._left = when, times

    def append(self, record: Record) -> None:
        self._left -= 1
        if self._left >= 0 and self._when == "before":
            raise KeyboardInterrupt
        super().append(record)
        if self._left >= 0:
            raise KeyboardInterrupt


def events(cell: Cell) -> list[Event]:
    """Return the events of a process with one turn; only its last record has settings."""
    ready = Record(cell=cell, round=0, attempt=1, status=OK, run="r1")
    last = replace(extended(ready, TAKEN), settings={"threads": 2})
    return [Ready(ready), TurnTaken(cell.name, 0, 1, TAKEN), Finished(last)]


def recorder(book: Journal, records: list[Record]) -> Recorder:
    return Recorder(book, records, None, 0, lambda seconds: None, lambda key, peaks: None)  # type: ignore[arg-type]


def record_all(made: Recorder, *cells: Cell) -> None:
    """Handle the events of a process for each cell; after an interrupt, lanes hand over those that are left."""
    with made.recording():
        left = iter([event for cell in cells for event in events(cell)])
        try:
            for event in left:
                made.handle(event)
        except KeyboardInterrupt:
            for event in left:
                made.handle(event)
            raise


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("expected", [(), (A, B), (B, A)], ids=["a row", "in order", "out of order"])
def test_an_interrupt_beside_the_write_of_a_record_loses_nothing_and_writes_nothing_twice(tmp_path, when, expected):
    records: list[Record] = []
    made = recorder(Interrupted(tmp_path, when), records)
    for cell in expected:
        made.expect(cell, 0, 1)
    with pytest.raises(KeyboardInterrupt):
        record_all(made, A, B)
    assert [record.cell for record in records] == list(expected or (A, B))
    assert [record.settings for record in records] == [{"threads": 2}] * 2
    assert journal.read(tmp_path) == records
    assert journal.count_lines(tmp_path) == 2
    assert not (tmp_path / journal.UNFINISHED).exists()


def test_an_earlier_record_of_the_attempt_is_not_taken_for_one_that_an_interrupt_kept_from_the_disk(tmp_path):
    book = Interrupted(tmp_path, "before")
    Journal.append(book, Record(cell=A, round=0, attempt=1, status=OK, stage="environment", started_at=1.0))
    with pytest.raises(KeyboardInterrupt):
        record_all(recorder(book, []), A)
    assert [record.settings for record in journal.read(tmp_path)] == [{"threads": 2}]


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_of_the_only_process_that_is_open_keeps_its_record(tmp_path, when):
    records: list[Record] = []
    made = recorder(Interrupted(tmp_path, when), records)
    with pytest.raises(KeyboardInterrupt):
        record_all(made, A)
    assert [record.settings for record in records] == [{"threads": 2}]
    assert journal.read(tmp_path) == records


def test_a_second_interrupt_leaves_the_notes_from_which_the_next_start_makes_records(tmp_path):
    made = recorder(Interrupted(tmp_path, "before", times=2), [])
    with pytest.raises(KeyboardInterrupt):
        record_all(made, A, B)
    assert journal.count_lines(tmp_path) == 0
    assert {(record.cell, *record.sample_ns) for record in journal.read(tmp_path)} == {(A, 10), (B, 10)}
    Journal(tmp_path)
    assert journal.count_lines(tmp_path) == 2


def test_an_interrupt_between_remembering_a_record_and_letting_go_of_it_counts_it_once(tmp_path):
    class Remembering(list):
        def append(self, record: Record) -> None:
            super().append(record)
            if len(self) == 1:
                raise KeyboardInterrupt

    records = Remembering()
    with pytest.raises(KeyboardInterrupt):
        record_all(recorder(Journal(tmp_path), records), A, B)
    assert [record.cell for record in records] == [A, B]
    assert journal.read(tmp_path) == records
    assert journal.count_lines(tmp_path) == 2


@pytest.mark.parametrize("sync", [False, True], ids=["of the write", "of the sync"])
def test_an_interrupt_leaves_whole_lines_in_a_file(tmp_path, monkeypatch, sync):
    """What is appended next must not continue a line that is half written."""

    class Half:
        """A file that takes half of what it is given first, and is then interrupted."""

        def __init__(self, file) -> None:
            self._file, self._calls = file, 0

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self._file.close()

        def fileno(self) -> int:
            return self._file.fileno()

        def write(self, data: bytes) -> int:
            self._calls += 1
            if self._calls == 2:
                raise KeyboardInterrupt
            return self._file.write(data[: len(data) // 2])

    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "lines.jsonl"
    lines.append(path, {"number": 1}, sync=True)
    with monkeypatch.context() as patch:
        if sync:
            patch.setattr("os.fsync", interrupt)
        else:
            opened = type(path).open
            patch.setattr(type(path), "open", lambda self, *given, **named: Half(opened(self, *given, **named)))
        with pytest.raises(KeyboardInterrupt):
            lines.append(path, {"number": 2}, sync=True)
    lines.append(path, {"number": 3}, sync=True)
    damaged: list[str] = []
    assert [values["number"] for values in journal.read_lines(path, damaged)] == ([1, 2, 3] if sync else [1, 3])
    assert damaged == []
