"""Tests that nothing finished is lost: half lines, kills between any two writes, earlier runs."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cell import Cell
from bench.host.setup.staging import write_whole
from bench.host.storage import journal
from bench.record import SCHEMA_VERSION, Record

CELL = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)


def record(number: int = 0, attempt: int = 1, **values) -> Record:
    values.setdefault("sample_steps", [4] * len(values.get("sample_ns", ())))
    return Record(cell=CELL, round=number, attempt=attempt, status="ok", **values)


def taken(turn: int, wall: int, cpu: int) -> dict[str, list[int]]:
    return {"sample_steps": [4], "sample_ns": [wall], "sample_cpu_ns": [cpu], "sample_turn": [turn]}


def test_a_record_is_read_back_as_it_was(tmp_path):
    written = record(
        sample_ns=[1, 2], sample_cpu_ns=[3, 4], sample_turn=[0, 1], settings={"threads": 2}, first_call_s=0.25
    )
    journal.Journal(tmp_path).append(written)
    assert journal.read(tmp_path) == [written]


def test_a_half_written_last_line_is_passed_over_and_closed(tmp_path):
    book = journal.Journal(tmp_path)
    book.append(record(0))
    book.append(record(1))
    path = tmp_path / journal.RECORDS
    path.write_bytes(path.read_bytes()[:-40])
    assert [r.round for r in journal.read(tmp_path)] == [0]
    journal.Journal(tmp_path).append(record(2))
    assert [r.round for r in journal.read(tmp_path)] == [0, 2]


@given(st.integers(0, 2000))
def test_a_file_cut_anywhere_gives_the_whole_records_before_the_cut(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("cut")
    book = journal.Journal(folder)
    for number in range(3):
        book.append(record(number, sample_ns=[1, 2, 3], sample_cpu_ns=[1, 2, 3], sample_turn=[0, 1, 2]))
    path = folder / journal.RECORDS
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    # A cut just before a line's end leaves the whole record.
    expected = sum(1 for end in range(len(whole)) if whole[end : end + 1] == b"\n" and end <= cut)
    assert len(journal.read(folder)) == expected


def test_turns_of_a_killed_process_become_a_record(tmp_path):
    book = journal.Journal(tmp_path)
    ready = record(first_call_s=1.5)
    book.begin(ready)
    book.turn(ready.cell.name, ready.round, ready.attempt, taken(0, 10, 20))
    book.turn(ready.cell.name, ready.round, ready.attempt, taken(1, 11, 21))
    with (tmp_path / journal.UNFINISHED).open("a") as file:
        file.write('{"turn": 2, "of": ["tor')
    expected = replace(ready, sample_steps=[4, 4], sample_ns=[10, 11], sample_cpu_ns=[20, 21], sample_turn=[0, 1])
    assert journal.read(tmp_path) == [expected]
    journal.Journal(tmp_path)
    assert journal.read(tmp_path) == [expected]
    assert not (tmp_path / journal.UNFINISHED).exists()


def test_a_process_without_a_turn_leaves_nothing(tmp_path):
    journal.Journal(tmp_path).begin(record())
    assert journal.read(tmp_path) == []


def test_a_kill_between_folding_and_removing_counts_no_process_twice(tmp_path):
    book = journal.Journal(tmp_path)
    ready = record()
    book.begin(ready)
    book.turn(ready.cell.name, ready.round, ready.attempt, taken(0, 10, 20))
    book.append(replace(ready, sample_steps=[4], sample_ns=[10], sample_cpu_ns=[20], sample_turn=[0]))
    assert len(journal.read(tmp_path)) == 1
    journal.Journal(tmp_path)
    assert len(journal.read(tmp_path)) == 1


def test_turns_are_kept_beside_an_earlier_record_of_the_attempt_without_a_process(tmp_path):
    """A cell that had no environment is measured in the next session, as the same attempt."""
    book = journal.Journal(tmp_path)
    book.append(record(started_at=1.0, stage="environment"))
    ready = record(started_at=2.0)
    book.begin(ready)
    book.turn(ready.cell.name, ready.round, ready.attempt, taken(0, 10, 20))
    assert [one.sample_ns for one in journal.read(tmp_path)] == [[10]]
    assert [one.sample_ns for one in journal.Journal(tmp_path).settle()] == []
    assert [one.sample_ns for one in journal.read(tmp_path)] == [[10]]


def test_records_of_a_newer_schema_are_refused_with_a_remedy(tmp_path):
    values = {**record().to_json(), "schema": SCHEMA_VERSION + 1}
    (tmp_path / journal.RECORDS).write_text(json.dumps(values) + "\n")
    with pytest.raises(ValueError, match="update benchmatrix"):
        journal.read(tmp_path)


def test_keys_that_a_newer_minor_version_added_are_ignored(tmp_path):
    values = {**record().to_json(), "added_later": 1}
    (tmp_path / journal.RECORDS).write_text(json.dumps(values) + "\n")
    assert journal.read(tmp_path) == [record()]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    write_whole(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_packed_records_are_read_where_there_are_no_others(tmp_path):
    book = journal.Journal(tmp_path)
    book.append(record(0))
    book.append(record(1))
    packed = tmp_path / "records.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / journal.RECORDS).read_bytes()))
    book.append(record(2))
    assert [one.round for one in journal.read(tmp_path)] == [0, 1, 2]
    (tmp_path / journal.RECORDS).unlink()
    assert [one.round for one in journal.read(tmp_path)] == [0, 1]


# Named, as a packed content has the time in it: two processes that collect the tests would name them differently.
@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"{}" * 9)[:-9], gzip.compress(b"{}\n") + b"rest"],
    ids=["not packed", "cut off", "more after it"],
)
def test_packed_records_that_are_damaged_are_told(tmp_path, content):
    (tmp_path / "records.jsonl.gz").write_bytes(content)
    damaged = []
    assert journal.read(tmp_path, damaged) == []
    assert damaged[-1].startswith("records.jsonl.gz:")
