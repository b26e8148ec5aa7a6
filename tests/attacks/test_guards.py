"""Tests the guard of a host: it goes where nothing is left, and clears up what is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from processes import ROOT, gone
from simulated_clock import Clock
from small_project import wait_for

from bench.host.workers import control_group, guard
from bench.worker import scratch

pytestmark = pytest.mark.long

#: A host that starts its guard and a worker, and leaves a process of it where ``left`` says so.
HOST = """
import os, subprocess, sys, tempfile
sys.path.insert(0, {root!r})
from bench.host.workers import guard
from bench.worker import family
made = guard.Guard()
worker = made.new_worker()
print(*family.children(os.getpid()), flush=True)
if {left}:
    started = worker.enclose(subprocess.Popen(["sleep", "1000"], env={{**os.environ, **worker.variables}}).pid)
    print(*guard.marked(worker.mark), flush=True)
else:
    worker.end()
"""


@pytest.mark.parametrize("left", [False, True])
def test_a_host_that_ends_in_order_keeps_its_guard_only_where_something_is_left(tmp_path, left):
    script = HOST.format(root=str(ROOT), left=left)
    kept = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", script], env=kept, check=True, capture_output=True, text=True)
    watching, *started = map(int, ended.stdout.split())
    assert len(started) == left
    assert gone(*started)
    assert gone(watching)


def test_a_guard_is_dismissed_only_when_no_worker_left_anything(tmp_path, monkeypatch, grouped):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    made = guard.Guard()
    left = subprocess.Popen(["sleep", "1000"], env={**os.environ, **made.new_worker().variables})
    folder = tmp_path / "benchmatrix-worker-1-x"
    try:
        wait_for(lambda: guard.marked(made._token) == [left.pid])
        assert not made.nothing_is_left()
    finally:
        left.kill()
        left.wait()
    if made._group is not None:
        assert not made.nothing_is_left(), "its control group is still there"
        control_group.end(made._group)
        made._group = None
    folder.mkdir()
    assert not made.nothing_is_left()
    folder.rmdir()
    assert made.nothing_is_left()


def test_a_guard_leaves_the_folder_of_another_host_s_worker_that_has_not_locked_it_yet(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "SWEEP_S", 0.0)
    made = guard.Guard()
    own = tmp_path / f"benchmatrix-worker-1-{made._token}"
    others = [tmp_path / "benchmatrix-worker-2-0123abcd", tmp_path / "benchmatrix-worker-3-x_y1z2w3"]
    for folder in (own, *others):
        folder.mkdir()
    guard.clear(made._token, "", str(tmp_path))
    assert sorted(tmp_path.iterdir()) == others


def test_a_guard_waits_for_a_killed_process_that_still_holds_its_folder(tmp_path, monkeypatch):
    """On a busy machine, a process that was killed ends when it gets a processor."""
    monkeypatch.setattr(guard, "time", clock := Clock())
    folder = tmp_path / "benchmatrix-worker-1-0123abcd"
    folder.mkdir()
    held = scratch.lock(str(folder))
    assert held is not None
    sleep = clock.sleep

    def end_late(seconds: float) -> None:
        before_s = clock.now_s
        sleep(seconds)
        if before_s < 10.0 <= clock.now_s:
            os.close(held)

    monkeypatch.setattr(clock, "sleep", end_late)
    guard.clear("0123abcd", "", str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert 10.0 <= clock.now_s < 11.0


def test_a_guard_does_not_wait_forever_for_what_cannot_be_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "time", clock := Clock())
    folder = tmp_path / "benchmatrix-worker-1-0123abcd"
    folder.mkdir()
    held = scratch.lock(str(folder))
    guard.clear("0123abcd", "", str(tmp_path))
    os.close(held)
    assert folder.exists()
    assert clock.now_s < 60.0
