"""Tests the host's side of a worker against processes that crash, hang, talk nonsense and leave children behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import PATIENCE_S, ROOT, alive, cpu_ticks, gone
from simulated_clock import Clock

from bench.host.environments.variables import of_process
from bench.host.workers import protocol
from bench.host.workers.protocol import Ended
from bench.host.workers.worker_process import WorkerProcess, arguments

SPEAK = """
import json, os, signal, sys, time
def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
def hear():
    return json.loads(sys.stdin.readline())
"""


@pytest.fixture
def start(tmp_path):
    """Start a worker that runs the given Python lines instead of bench.worker."""
    started = []

    def begin(lines: str) -> WorkerProcess:
        script = tmp_path / "fake.py"
        script.write_text(SPEAK + lines)
        worker = WorkerProcess(
            [sys.executable, str(script)],
            folder=ROOT,
            variables=of_process(1),
            log=tmp_path / "logs" / "worker.log",
            processors=[],
        )
        started.append(worker)
        return worker

    yield begin
    for worker in started:
        worker.kill()


def end_of(worker: WorkerProcess, timeout_s: float = PATIENCE_S) -> Ended:
    with pytest.raises(Ended) as caught:
        worker.receive(timeout_s)
    return caught.value


def test_an_answer_comes_back_and_stages_are_followed(start):
    worker = start(
        'say(event="started"); r = hear(); say(event="stage", stage="build"); say(event="done", got=r["do"])'
    )
    worker.send(do="finish")
    assert worker.receive(PATIENCE_S) == {"event": "done", "got": "finish"}
    assert worker.stage == "build"


def test_an_exit_code_and_the_end_of_the_log_are_in_the_reason(start):
    worker = start('say(event="stage", stage="import"); print("libfoo: not found", file=sys.stderr); sys.exit(3)')
    ended = end_of(worker)
    assert (ended.status, ended.stage) == ("failed", "import")
    assert ended.reason == "the worker ended with exit code 3: libfoo: not found"


def test_a_segmentation_fault_becomes_failed(start):
    worker = start('say(event="stage", stage="first-call"); os.kill(os.getpid(), signal.SIGSEGV)')
    ended = end_of(worker)
    assert (ended.status, ended.stage) == ("failed", "first-call")
    assert "SIGSEGV" in ended.reason


def test_a_signal_without_a_name_becomes_failed(start):
    ended = end_of(start("os.kill(os.getpid(), signal.SIGRTMIN + 1)"))
    assert (ended.status, ended.reason) == ("failed", f"killed by signal {signal.SIGRTMIN + 1}")


@pytest.mark.usefixtures("no_oom_kills_beside")
def test_a_kill_from_outside_becomes_failed(start):
    ended = end_of(start("os.kill(os.getpid(), signal.SIGKILL)"))
    assert (ended.status, ended.reason) == ("failed", "killed by SIGKILL")


def test_a_kill_by_the_kernel_for_memory_is_told_apart(start, monkeypatch):
    counts = iter([4, 5])
    monkeypatch.setattr("bench.host.workers.worker_process.oom_kills", lambda: next(counts))
    ended = end_of(start("os.kill(os.getpid(), signal.SIGKILL)"))
    assert (ended.status, ended.reason) == ("out-of-memory", "killed by the kernel for lack of memory")


def test_a_hang_becomes_a_timeout_and_the_process_is_gone(start):
    worker = start('say(event="stage", stage="measure"); say(event="ready"); time.sleep(1000)')
    assert worker.receive(PATIENCE_S) == {"event": "ready"}
    ended = end_of(worker, 2.0)
    assert (ended.status, ended.stage, ended.reason) == ("timeout", "measure", "no answer within 2 s")
    assert not alive(worker._process.pid)


class Simulated:
    """Says one line every few seconds of a simulated clock."""

    stage = "start"

    def __init__(self, lines: list[bytes], pause_s: float, clock: Clock, folder: Path) -> None:
        self._lines, self._pause_s, self._clock = iter(lines), pause_s, clock
        self._due_s = pause_s
        self.log = folder / "worker.log"
        self.killed = False

    def line(self, deadline: float) -> bytes | None:
        self._clock.now_s = min(deadline, self._due_s)
        if self._clock.now_s < self._due_s:
            return None
        self._due_s += self._pause_s
        return next(self._lines)

    def kill(self) -> None:
        self.killed = True


def test_each_stage_has_its_own_time(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "time", clock := Clock())
    lines = [b'{"event": "stage", "stage": "%s"}' % stage for stage in (b"import", b"build", b"check")]
    worker = Simulated([*lines, b'{"event": "done"}'], 1.9, clock, tmp_path)
    assert protocol.receive(worker, 2.0)["event"] == "done"
    assert clock.now_s == pytest.approx(4 * 1.9)
    assert not worker.killed
    clock.now_s = 0.0
    late = Simulated([*lines, b'{"event": "done"}'], 2.1, clock, tmp_path)
    with pytest.raises(Ended, match="no answer within 2 s"):
        protocol.receive(late, 2.0)
    assert clock.now_s == 2.0
    assert late.killed


@pytest.mark.parametrize("nonsense", ["not json", "[1, 2]", '{"no": "event"}', "\\x00\\xff"])
def test_nonsense_becomes_failed(start, nonsense):
    ended = end_of(start(f"sys.stdout.write('{nonsense}\\n'); sys.stdout.flush(); time.sleep(100)"))
    assert ended.status == "failed"
    assert "which is not a message" in ended.reason


def test_a_reported_end_keeps_status_stage_and_reason(start):
    ended = end_of(start('say(event="ended", status="mismatch", stage="check", reason="loss errs")'))
    assert (ended.status, ended.stage, ended.reason) == ("mismatch", "check", "loss errs")


def test_a_command_that_does_not_exist_becomes_failed(tmp_path):
    with pytest.raises(Ended) as caught:
        WorkerProcess(["/nowhere/python"], folder=ROOT, variables={}, log=tmp_path / "w.log", processors=[])
    assert caught.value.reason == "/nowhere/python does not start: No such file or directory"


def test_sending_to_a_dead_worker_is_noticed_at_the_answer(start):
    worker = start("sys.exit(0)")
    assert gone(worker.process_id)
    worker.send(do="turn", samples=1)
    worker.send(do="turn", samples=1)
    assert "exit code 0" in end_of(worker).reason


def test_a_paused_worker_uses_no_processor_time_and_goes_on_after(start):
    worker = start(
        "import threading\n"
        "def spin():\n    while True: pass\n"
        "threading.Thread(target=spin, daemon=True).start()\n"
        "hear()\nsay(event='ready')\nwhile True:\n    t = time.process_time()\n    hear(); say(event='cpu', s=t)"
    )
    worker.send(do="x")
    worker.receive(PATIENCE_S)
    worker.pause()
    before = cpu_ticks(worker._process.pid)
    time.sleep(0.3)
    # The kernel may still count the last moment before it stopped.
    assert cpu_ticks(worker._process.pid) - before <= 1
    worker.resume()
    worker.send(do="x")
    assert worker.receive(PATIENCE_S)["event"] == "cpu"


def test_closing_ends_children_that_a_framework_left_behind(start, tmp_path):
    worker = start(
        "import subprocess\nchild = subprocess.Popen(['sleep', '1000'])\nsay(event='child', pid=child.pid)\nhear()\n"
    )
    child = worker.receive(PATIENCE_S)["pid"]
    worker.pause()
    worker.close()
    assert gone(child)


def test_several_workers_end_at_the_same_time(start, tmp_path):
    # The first one ends only after the second one was told to.
    first = start(f"sys.stdin.read()\nwhile not os.path.exists({str(tmp_path / 'told')!r}): time.sleep(0.01)")
    second = start(f"sys.stdin.read(); open({str(tmp_path / 'told')!r}, 'w').close()")
    for worker in (first, second):
        worker.pause()
        worker.end_input()
    for worker in (first, second):
        worker.close()
    assert [worker._process.returncode for worker in (first, second)] == [0, 0]


def test_a_real_worker_dies_with_its_host_even_when_stopped(tmp_path):
    host = (
        "import sys, time; from pathlib import Path\n"
        "from bench.host.environments.variables import of_process\n"
        "from bench.host.workers.worker_process import WorkerProcess\n"
        f"root, folder = Path({str(ROOT)!r}), Path({str(tmp_path)!r})\n"
        "w = WorkerProcess(\n"
        "    [sys.executable], folder=root, variables=of_process(1), log=folder / 'w.log', processors=[]\n)\n"
        "w.line(time.monotonic() + 20)\n"
        "w.pause(); print(w._process.pid, flush=True); time.sleep(1000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", host], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    assert alive(pid)
    process.kill()
    process.wait()
    process.stdout.close()
    assert gone(pid)


def test_signals_to_a_worker_that_is_gone_are_harmless(start):
    worker = start("sys.exit(0)")
    worker._process.wait()
    worker.pause()
    worker.resume()
    worker.kill()
    assert worker._process.returncode == 0


def test_a_worker_is_told_its_processors_and_its_layout():
    assert arguments((0, 2), 7) == ["--processors", "0,2", "--layout", "7"]
    assert arguments((), None) == []
