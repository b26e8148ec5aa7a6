"""Tests that pieces of work are divided between two processes, and that nothing is lost where one of them fails."""

from __future__ import annotations

import os
import select
import signal
from functools import partial

import pytest

from bench.host.machine import processors
from bench.host.reporting import report
from bench.host.reporting.outputs import side_by_side

WAIT_S = 60


def test_the_results_have_the_order_of_the_pieces():
    pieces = [partial(lambda number: [number, f"piece {number}"], number) for number in range(40)]
    expected = [[number, f"piece {number}"] for number in range(40)]
    assert side_by_side.call(pieces, copies=True) == side_by_side.call(pieces, copies=False) == expected


def test_two_pieces_run_at_the_same_time():
    first, second = os.pipe(), os.pipe()

    def meet(mine: int, others: int) -> int:
        """Say that this piece has begun, and wait for the other one to say so."""
        os.write(mine, b".")
        assert select.select([others], [], [], WAIT_S)[0], "the other piece did not begin"
        return os.getpid()

    pieces = [partial(meet, first[1], second[0]), partial(meet, second[1], first[0])]
    found = side_by_side.call(pieces, copies=True)
    assert os.getpid() in found
    assert len(set(found)) == 2
    for end in (*first, *second):
        os.close(end)


def test_a_piece_that_fails_anywhere_raises_its_error_here():
    def fail():
        raise ValueError(f"piece of {os.getpid()}")

    for pieces in ([fail, os.getpid], [os.getpid, fail], [fail, fail, fail]):
        with pytest.raises(ValueError, match=f"piece of {os.getpid()}"):
            side_by_side.call(pieces, copies=True)


def test_what_a_killed_copy_had_is_done_here():
    own, (began, begin) = os.getpid(), os.pipe()
    done: list[int] = []

    def dies_in_the_copy() -> str:
        if os.getpid() != own:
            os.write(begin, b".")
            os.kill(os.getpid(), signal.SIGKILL)
        if not done:
            # This process goes on only once the copy has begun with another piece.
            assert select.select([began], [], [], WAIT_S)[0]
        done.append(1)
        return "done"

    assert side_by_side.call([dies_in_the_copy] * 3, copies=True) == ["done"] * 3
    os.close(began)
    os.close(begin)


def test_no_copy_outlives_the_call(tmp_path):
    def name_process() -> str:
        (tmp_path / str(os.getpid())).touch()
        return ""

    side_by_side.call([name_process] * 20, copies=True)
    others = [int(path.name) for path in tmp_path.iterdir() if path.name != str(os.getpid())]
    for other in others:
        with pytest.raises(ProcessLookupError):
            os.kill(other, 0)


def test_a_report_written_by_two_processes_is_the_same_to_the_byte(tmp_path, long_study, monkeypatch):
    found = {}
    for name, free in (("one", {0}), ("two", {0, 1})):
        monkeypatch.setattr(processors, "available", lambda free=free: free)
        written = report.make(long_study.records, long_study.manifest).write(tmp_path / name)
        found[name] = {path.relative_to(tmp_path / name): path.read_bytes() for path in written.paths}
    assert list(found["one"]) == list(found["two"])
    assert found["one"] == found["two"]
