"""Tests that the processes below a process are found, also orphans, and stopped, resumed and ended."""

import os
import subprocess
import sys
import time

import pytest

from bench.worker import family

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
#: Seconds that tests wait for what comes at once: only a failure lasts so long, or a machine that stands still.
PATIENCE_S = 60.0
#: Has a plain child, one that has ended, and an orphan with a session of its own.
TREE = """
import os, subprocess, time
from bench.worker import family
family.adopt_orphans()
plain = subprocess.Popen(["sleep", "100"])
ended = subprocess.Popen(["true"])
reading, writing = os.pipe()
leaving = os.fork()
if not leaving:
    os.setsid()
    if not os.fork():
        os.write(writing, b"%d" % os.getpid())
        os.execlp("sleep", "sleep", "100")
    os._exit(0)
orphan = int(os.read(reading, 20))
os.waitpid(leaving, 0)  # Until then it is no orphan.
print(plain.pid, ended.pid, orphan, flush=True)
time.sleep(100)
"""


@pytest.fixture
def tree():
    process = subprocess.Popen(
        [sys.executable, "-c", TREE], cwd=ROOT, stdout=subprocess.PIPE, universal_newlines=True, start_new_session=True
    )
    plain, ended, orphan = map(int, process.stdout.readline().split())
    yield process, plain, ended, orphan
    family.end(process.pid)
    process.wait(PATIENCE_S)
    process.stdout.close()


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_living_children_and_orphans_are_found_and_those_that_ended_are_not(tree):
    process, plain, ended, orphan = tree
    assert wait_for(lambda: set(family.descendants(process.pid)) == {plain, orphan})
    assert family.state(ended) == "Z"
    assert os.getsid(orphan) != process.pid
    assert family.children(plain) == []


def test_all_are_stopped_and_go_on(tree):
    process, plain, _, orphan = tree
    below = family.stop(process.pid)
    assert {plain, orphan} <= set(below)
    assert [family.state(one) for one in (plain, orphan)] == ["T", "T"]
    family.resume(process.pid, below)
    assert wait_for(lambda: [family.state(one) for one in (process.pid, plain, orphan)] == ["S", "S", "S"])


def test_one_that_a_busy_machine_lets_stop_late_is_waited_for(tree, monkeypatch):
    process, _, _, orphan = tree
    late = time.monotonic() + 0.3
    truth = family.state
    seen = []

    def state(one):
        seen.append(one)
        return "R" if one == orphan and time.monotonic() < late else truth(one)

    monkeypatch.setattr(family, "state", state)
    below = family.stop(process.pid)
    assert orphan in below
    assert time.monotonic() >= late
    assert len(seen) < 10000


def test_one_that_does_not_stop_is_not_waited_for_forever(tree, monkeypatch):
    process, _, _, orphan = tree
    truth = family.state
    monkeypatch.setattr(family, "MOST_SECONDS_TO_STOP", 0.05)
    monkeypatch.setattr(family, "state", lambda one: "D" if one == orphan else truth(one))
    assert orphan in family.stop(process.pid)


def test_all_end_together(tree):
    process, plain, _, orphan = tree
    family.end(process.pid)
    process.wait(PATIENCE_S)
    assert wait_for(lambda: all(family.state(one) in (None, "Z") for one in (plain, orphan)))


def test_a_wait_for_children_ends_with_them_or_in_time(tree):
    process, plain, _, orphan = tree
    assert set(family.lasting(process.pid, 0.05)) >= {plain, orphan}
    assert plain not in family.lasting(process.pid, 0.05, [plain])
    os.kill(plain, 9)
    os.kill(orphan, 9)
    assert family.lasting(process.pid, PATIENCE_S) == []


def test_a_process_that_does_not_exist_has_nothing_below_it():
    assert family.descendants(1 << 30) == []
    assert not family.send(1 << 30, 0)
    family.end(1 << 30)
