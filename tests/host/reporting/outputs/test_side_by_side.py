"""Tests that pieces of work are divided between two processes, and that nothing is lost where one of them fails."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from bench.host.reporting.outputs import side_by_side

ROOT = Path(__file__).resolve().parents[4]
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


#: Writes a report with one processor and with two, and tells how often it made a copy of itself for each. It is a
#: program of its own: a process that runs tests has threads, and with those nothing is copied.
WRITER = """
import pickle, sys
from pathlib import Path
from bench.host.machine import processors
from bench.host.reporting import report
from bench.host.reporting.outputs import side_by_side
folder, copies, fork = Path(sys.argv[1]), [], side_by_side._fork
study = (folder / "study").read_bytes()

def counted():
    copies.append(fork())
    return copies[-1]

side_by_side._fork = counted
for free in (1, 2):
    processors.available = lambda: set(range(free))
    report.make(*pickle.loads(study)).write(folder / str(free))
    print(len(copies))
"""


@pytest.mark.long
def test_a_report_written_by_two_processes_is_the_same_to_the_byte(tmp_path, long_study):
    (tmp_path / "study").write_bytes(pickle.dumps((long_study.records, long_study.manifest)))
    script = [sys.executable, "-c", WRITER, str(tmp_path)]
    told = subprocess.run(script, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert told.split() == ["0", "1"]
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
        for folder in (tmp_path / "1", tmp_path / "2")
    )
    assert len(one) > 5
    assert list(one) == list(two)
    assert one == two
