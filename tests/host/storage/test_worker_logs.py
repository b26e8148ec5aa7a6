"""Tests where the logs of workers are, and which end of one is read."""

from __future__ import annotations

import os

import pytest

from bench.cell import Cell
from bench.host.storage import worker_logs
from bench.record import FAILED, Record

CELL = Cell("torch2", "torch", "compile", "gemm", "small", "float32", "cpu", 2)


def written(folder, content: bytes, number: int = 0, attempt: int = 1) -> Record:
    path = worker_logs.path_of(folder, CELL, worker_logs.label_of(number, attempt))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return Record(cell=CELL, round=number, attempt=attempt, status=FAILED, run="r", started_at=0.0)


def test_a_short_log_is_shown_whole_under_its_name(tmp_path):
    found = worker_logs.tail(tmp_path, written(tmp_path, b"one\ntwo\n", number=2, attempt=3))
    assert found == "logs/torch2-compile-gemm-small-float32-cpu.r3.a3.log\none\ntwo"


def test_of_a_long_log_the_last_lines_are_shown(tmp_path):
    every = [f"line {number}" for number in range(1000)]
    found = worker_logs.tail(tmp_path, written(tmp_path, "\n".join(every).encode()))
    assert found.splitlines()[1:] == every[-worker_logs.LINES :]


def test_of_long_lines_so_many_bytes_are_shown_and_no_half_line(tmp_path):
    record = written(tmp_path, b"\n".join(b"%d" % number + b"x" * 1500 for number in range(9)))
    lines = worker_logs.tail(tmp_path, record).splitlines()[1:]
    assert [line[0] for line in lines] == ["7", "8"]


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_log_is_not_shown(tmp_path, content):
    assert worker_logs.tail(tmp_path, written(tmp_path, content)) is None


def test_what_is_no_text_is_shown_as_well_as_it_can_be(tmp_path):
    assert worker_logs.tail(tmp_path, written(tmp_path, b"\xff\xfe end")).endswith("\ufffd\ufffd end")


def test_a_log_that_is_not_there_is_not_shown(tmp_path):
    record = written(tmp_path, b"text")
    worker_logs.path_of(tmp_path, CELL, "r1.a1").unlink()
    assert worker_logs.tail(tmp_path, record) is None
    worker_logs.path_of(tmp_path, CELL, "r1.a1").mkdir()
    assert worker_logs.tail(tmp_path, record) is None


def test_what_a_worker_put_in_place_of_its_log_is_not_read(tmp_path):
    record = written(tmp_path, b"text")
    path = worker_logs.path_of(tmp_path, CELL, "r1.a1")
    path.rename(tmp_path / "secret")
    path.symlink_to(tmp_path / "secret")
    assert worker_logs.tail(tmp_path, record) is None
    path.unlink()
    os.mkfifo(path)
    assert worker_logs.tail(tmp_path, record) is None
