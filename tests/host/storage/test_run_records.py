"""Tests that a finished run whose records are missing or cut off is refused, and an interrupted one is read."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace

import pytest

from bench.cell import Cell
from bench.host.refusal import Refused
from bench.host.storage import journal, run_records
from bench.host.storage.manifest import BUDGET, Manifest, Stop
from bench.record import Record

CELL = Cell("torch2", "torch", "eager", "gemm", "tiny", "float32", "cpu", 2)
FINISHED = Manifest(run="one", planned=(CELL,), finished=True)
END = r"; run\.json says that the run is finished\. Restore the file from a copy\.$"


def content(tmp_path) -> bytes:
    """Return the content of a journal of three records."""
    book = journal.Journal(tmp_path / "whole")
    for number in range(3):
        book.append(Record(cell=CELL, round=number, attempt=1, status="ok", settings={"threads": 2}))
    return (tmp_path / "whole" / journal.RECORDS).read_bytes()


def test_whole_records_are_read_packed_or_not(tmp_path):
    whole = content(tmp_path)
    (tmp_path / "records.jsonl.gz").write_bytes(gzip.compress(whole))
    damaged = []
    assert [one.round for one in run_records.read(tmp_path, FINISHED, damaged)] == [0, 1, 2]
    (tmp_path / journal.RECORDS).write_bytes(whole)
    assert len(run_records.read(tmp_path, FINISHED, damaged)) == 3
    assert damaged == []


def test_a_finished_run_without_its_records_is_refused(tmp_path):
    begin = re.escape(f"{tmp_path}/records.jsonl is missing, and so is records.jsonl.gz")
    with pytest.raises(Refused, match=f"^{begin}{END}"):
        run_records.read(tmp_path, FINISHED)


@pytest.mark.parametrize("name", [journal.RECORDS, "records.jsonl.gz"])
def test_a_finished_run_with_an_empty_file_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    begin = re.escape(f"{tmp_path}/{name} has no record (it is empty)")
    with pytest.raises(Refused, match=f"^{begin}{END}"):
        run_records.read(tmp_path, FINISHED)


def test_a_finished_run_all_of_whose_lines_are_damaged_is_refused(tmp_path):
    (tmp_path / journal.RECORDS).write_text("nonsense\n")
    begin = re.escape(f"{tmp_path}/records.jsonl has no record (records.jsonl:1: is not a whole object of JSON)")
    with pytest.raises(Refused, match=f"^{begin}{END}"):
        run_records.read(tmp_path, FINISHED)


def test_a_finished_run_whose_packed_file_is_cut_is_refused(tmp_path):
    packed = gzip.compress(content(tmp_path))
    (tmp_path / "records.jsonl.gz").write_bytes(packed[:-9])
    begin = re.escape(f"{tmp_path}/records.jsonl.gz is cut off (records.jsonl.gz:")
    with pytest.raises(Refused, match=f"^{begin}.* the packed file is damaged from here on: .*{END}"):
        run_records.read(tmp_path, FINISHED)


def test_of_a_file_whose_last_line_is_cut_an_interrupted_run_is_read_and_a_finished_one_is_refused(tmp_path):
    (tmp_path / journal.RECORDS).write_bytes(content(tmp_path)[:-40])
    damaged = []
    assert len(run_records.read(tmp_path, replace(FINISHED, finished=False), damaged)) == 2
    assert damaged == ["records.jsonl:3: is not a whole object of JSON"]
    begin = re.escape(f"{tmp_path}/records.jsonl is cut off ({damaged[0]})")
    with pytest.raises(Refused, match=f"^{begin}{END}"):
        run_records.read(tmp_path, FINISHED)


@pytest.mark.parametrize("name", [journal.RECORDS, "records.jsonl.gz"])
@pytest.mark.parametrize("left", [0, 2])
def test_a_finished_run_whose_file_is_cut_at_the_end_of_a_line_is_refused(tmp_path, name, left):
    kept = b"".join(content(tmp_path).splitlines(keepends=True)[:left])
    (tmp_path / name).write_bytes(gzip.compress(kept) if name.endswith(".gz") else kept)
    begin = re.escape(f"{tmp_path}/{name} is cut off (it has {left} of 3 lines)")
    damaged = []
    with pytest.raises(Refused, match=f"^{begin}{END}"):
        run_records.read(tmp_path, replace(FINISHED, recorded_lines=3), damaged)
    assert damaged == []


@pytest.mark.parametrize(
    "described",
    [
        FINISHED,
        replace(FINISHED, finished=False, recorded_lines=3),
        replace(FINISHED, recorded_lines=2),
        replace(FINISHED, recorded_lines=1),
    ],
    ids=["older run", "opened again", "whole", "one more"],
)
def test_lines_are_missed_only_where_a_finished_run_had_more(tmp_path, described):
    (tmp_path / journal.RECORDS).write_bytes(b"".join(content(tmp_path).splitlines(keepends=True)[:2]))
    damaged = []
    assert len(run_records.read(tmp_path, described, damaged)) == 2
    assert damaged == []


def test_a_damaged_line_is_there_and_is_no_lost_one(tmp_path):
    first, _second, third = content(tmp_path).splitlines(keepends=True)
    (tmp_path / journal.RECORDS).write_bytes(first + b"nonsense\n" + third)
    damaged = []
    assert len(run_records.read(tmp_path, replace(FINISHED, recorded_lines=3), damaged)) == 2
    assert damaged == ["records.jsonl:2: is not a whole object of JSON"]


def test_a_run_that_ended_with_records_before_its_budget_was_spent_must_have_them(tmp_path):
    """Such as those of cells whose environment could not be built."""
    stopped = replace(FINISHED, budget_s=1.0, stopped={CELL.row: Stop(0, BUDGET)})
    assert run_records.read(tmp_path, replace(stopped, recorded_lines=0)) == []
    with pytest.raises(Refused, match="is missing"):
        run_records.read(tmp_path, replace(stopped, recorded_lines=1))


def test_lines_are_counted_as_they_are_read(tmp_path):
    assert journal.count_lines(tmp_path) == 0
    (tmp_path / journal.RECORDS).write_bytes(b"nonsense\n\n" + content(tmp_path)[:-1])
    assert journal.count_lines(tmp_path) == 5
    damaged, cut = [], []
    journal.read(tmp_path, damaged, cut, fewest=5)
    assert cut == []
    journal.read(tmp_path, damaged, cut, fewest=6)
    assert cut == ["it has 5 of 6 lines"]


def test_a_last_line_that_lacks_nothing_but_its_end_is_a_whole_one(tmp_path):
    (tmp_path / journal.RECORDS).write_bytes(content(tmp_path)[:-1])
    assert len(run_records.read(tmp_path, FINISHED)) == 3


def test_damaged_lines_between_whole_ones_are_left_out(tmp_path):
    first, second, third = content(tmp_path).splitlines(keepends=True)
    (tmp_path / journal.RECORDS).write_bytes(first + second[10:] + third)
    damaged = []
    assert [one.round for one in run_records.read(tmp_path, FINISHED, damaged)] == [0, 2]
    assert damaged == ["records.jsonl:2: is not a whole object of JSON"]


@pytest.mark.parametrize(
    "described",
    [
        replace(FINISHED, finished=False),
        replace(FINISHED, planned=()),
        replace(FINISHED, budget_s=1.0, stopped={CELL.row: Stop(0, BUDGET)}),
    ],
    ids=["interrupted", "nothing planned", "budget spent before"],
)
def test_a_run_that_may_have_no_record_is_read(tmp_path, described):
    assert run_records.read(tmp_path, described) == []


def test_a_run_whose_budget_was_spent_after_a_round_must_have_records(tmp_path):
    with pytest.raises(Refused, match="is missing"):
        run_records.read(tmp_path, replace(FINISHED, budget_s=1.0, stopped={CELL.row: Stop(1, BUDGET)}))


def test_a_column_that_was_found_wrong_after_the_run_counts_as_failed_with_the_reason(tmp_path):
    whole = content(tmp_path)
    (tmp_path / journal.RECORDS).write_bytes(whole)
    retracted = replace(FINISHED, retracted={CELL.column: "its code has no vector instructions"})
    assert Manifest.from_json(json.loads(json.dumps(retracted.to_json()))) == retracted
    found = run_records.read(tmp_path, retracted)
    assert {(one.status, one.reason) for one in found} == {("failed", "retracted: its code has no vector instructions")}
    other = replace(FINISHED, retracted={"torch2:compile": "its code has no vector instructions"})
    assert {one.status for one in run_records.read(tmp_path, other)} == {"ok"}
    assert (tmp_path / journal.RECORDS).read_bytes() == whole
