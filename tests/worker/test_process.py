"""Tests that a worker moves to other processors with all that computes for it."""

import os
import subprocess
import sys

import pytest

from bench.frameworks import loaded

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: Moves itself and a process that it started to the processor that it is given; prints where both may run then.
MOVED = """
import os, subprocess, sys
from bench.worker import process
started = subprocess.Popen(["sleep", "100"])
try:
    process.move([int(sys.argv[1])], [started.pid])
    print(*os.sched_getaffinity(0), *os.sched_getaffinity(started.pid))
finally:
    started.kill()
    started.wait()
"""


@pytest.mark.skipif(not loaded.is_bound() or len(loaded.processors()) < 2, reason="there is one processor to run on")
def test_the_processes_that_compute_for_a_worker_move_with_it():
    for processor in sorted(loaded.processors())[:2]:
        moved = subprocess.check_output([sys.executable, "-c", MOVED, str(processor)], cwd=ROOT).split()
        assert [int(number) for number in moved] == [processor, processor]


def test_a_forked_process_keeps_its_own_pipe_and_files_and_no_other_pipe():
    script = """
import os, socket
from bench.worker.process import keep_only
(own, _), (other, _), (left, right) = os.pipe(), os.pipe(), socket.socketpair()
file = os.open(os.devnull, os.O_RDONLY)
keep_only(own)
def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
print([is_open(number) for number in (0, 1, 2, own, file, other, left.fileno())])
left.detach(), right.detach()
"""
    found = subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.PIPE, cwd=str(ROOT))
    assert found.stdout.decode().strip() == "[True, True, True, True, True, False, False]"
