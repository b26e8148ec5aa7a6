"""Attacks by processes that a program starts: they leave its session, compute beside others, or outlive their host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import odd_framework
import pytest
from processes import PATIENCE_S, ROOT, alive, gone
from small_project import wait_for

from bench.host.environments.variables import of_process
from bench.host.executors.cell_process import CellProcess
from bench.host.storage.references import References
from bench.host.workers.parent import Parent
from bench.host.workers.worker_process import WorkerProcess
from bench.registry import Registry
from bench.worker import family

pytestmark = pytest.mark.long

#: A program that starts processes when it is built, and writes their ids to its log.
PROGRAM = """
import os, sys, time
from bench.workloads.gemm.numpy import build as right

def start(leave, what):
    "Start a process; one that leaves has a session of its own, and its parent ends."
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        return int(os.read(reading, 20))
    if leave:
        os.setsid()
        if os.fork():
            os._exit(0)
    os.write(writing, b"%d" % os.getpid())
    what()
    os._exit(0)

def sleep():
    time.sleep(1000)

def compute():
    kept = b"x" * (30 << 20)
    while kept:
        sum(range(1000))

def build(size, parameters, batch, transform):
    program = right(size, parameters, batch, transform)
    started = [start(leave, what) for leave, what in {attack}]
    print("started", *started, flush=True)
    return program
"""
ASLEEP = "[(True, sleep), (False, sleep), (True, sleep)]"


@pytest.fixture(scope="session")
def reference(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("references")
    return str(References(ROOT, folder, 1, 1, Registry()).ensure(odd_framework.CELL, None))


@pytest.fixture
def launch(tmp_path):
    """Start a worker of an attacking program, by itself or forked; return it and its cell process."""
    kept = []

    def begin(attack: str, forked: bool) -> tuple[CellProcess, WorkerProcess]:
        sources = odd_framework.make(tmp_path / "source")
        (tmp_path / "source" / "workloads" / "gemm" / "odd.py").write_text(PROGRAM.replace("{attack}", attack))
        log = tmp_path / "worker.log"
        made = WorkerProcess(
            [sys.executable],
            folder=ROOT,
            variables={**of_process(1), "TMPDIR": str(tmp_path)},
            log=tmp_path / "parent.log" if forked else log,
            processors=[],
            sources=sources,
            parent=forked,
        )
        kept.append(made)
        worker = made
        if forked:
            kept.append(Parent(made, "odd", lambda outer, inner: inner))
            worker = kept[-1].fork(log=log, processors=[], layout=None, variables={})
        process = CellProcess(odd_framework.CELL, 0, 1, 0, timeout_s=PATIENCE_S, run="r")
        process.request_import(worker)
        process.await_import(alone=True)
        return process, worker

    yield begin
    for one in reversed(kept):
        one.close()


def prepare(process: CellProcess, reference: str, tmp_path: Path) -> list[int]:
    """Prepare the cell; return the ids of the processes that its program started."""
    process.request_prepare(seed=1, reference=reference, data=None)
    process.await_prepare(alone=True, cache=None)
    process.calibrate(sample_s=0.02)
    assert not process.over, process.record.reason
    return [int(word) for word in (tmp_path / "worker.log").read_text().split()[1:]]


@pytest.mark.usefixtures("no_oom_kills_beside")
@pytest.mark.parametrize("forked", [False, True], ids=["own", "forked"])
@pytest.mark.parametrize("way", ["finish", "kill", "crash"])
def test_no_process_survives_its_cell(grouped, launch, reference, tmp_path, forked, way):
    process, worker = launch(ASLEEP, forked)
    started = prepare(process, reference, tmp_path)
    assert len(started) == 3
    assert len({os.getsid(one) for one in started}) == 3
    assert all(map(alive, started))
    if way == "finish":
        process.take_turn()
        process.request_finish()
        process.await_finish()
        process.end_worker()
        process.await_end()
        assert process.record.status == "ok", process.record.reason
    elif way == "kill":
        process.kill()
    else:
        os.kill(worker.process_id, signal.SIGKILL)
        process.take_turn()
        assert process.record.reason.startswith("killed by SIGKILL")
    assert gone(*started)


@pytest.mark.parametrize("forked", [False, True], ids=["own", "forked"])
def test_all_processes_of_a_cell_are_stopped_with_it(launch, reference, tmp_path, forked):
    process, worker = launch(ASLEEP, forked)
    started = prepare(process, reference, tmp_path)
    assert [family.state(one) for one in started] == ["T"] * 3
    worker.resume()
    wait_for(lambda: {family.state(one) for one in started} == {"S"})
    worker.pause()
    wait_for(lambda: [family.state(one) for one in started] == ["T"] * 3)


@pytest.mark.parametrize("forked", [False, True], ids=["own", "forked"])
def test_a_process_that_left_the_session_and_computes_fails_the_cell(launch, reference, tmp_path, forked):
    process, _ = launch("[(True, compute)]", forked)
    started = prepare(process, reference, tmp_path)
    for _ in range(20):
        process.take_turn()
    assert (process.record.status, process.record.stage) == ("failed", "measure")
    assert process.record.reason.startswith(f"process {started[0]} (python")
    assert "which left the session of the worker, computed for" in process.record.reason
    assert gone(*started)


@pytest.mark.parametrize("forked", [False, True], ids=["own", "forked"])
def test_the_cpu_time_and_memory_of_further_processes_belong_to_the_cell(launch, reference, tmp_path, forked):
    process, _ = launch("[(False, compute), (False, compute)]", forked)
    prepare(process, reference, tmp_path)
    told_ns = []
    add = process._children.add

    def watch(taken: dict[str, list[int]], turn_ns: int) -> None:
        told_ns.extend(taken["sample_cpu_ns"])
        add(taken, turn_ns)

    process._children.add = watch
    for _ in range(20):
        process.take_turn()
    process.request_finish()
    process.await_finish()
    record = process.record
    assert record.status == "ok", record.reason
    assert record.settings["processes"] == 3
    assert record.memory["other_processes_bytes"] > 60 << 20
    assert record.memory["peak_bytes"] > record.memory["other_processes_bytes"]
    assert len(told_ns) == 20
    assert sum(record.sample_cpu_ns) > 1.3 * sum(told_ns)


def test_a_cell_without_further_processes_has_one(launch, reference, tmp_path):
    process, _ = launch("[]", True)
    prepare(process, reference, tmp_path)
    process.take_turn()
    process.request_finish()
    process.await_finish()
    assert process.record.settings["processes"] == 1
    assert "other_processes_bytes" not in process.record.memory


@pytest.mark.parametrize("forked", [False, True], ids=["own", "forked"])
def test_no_process_survives_a_host_that_is_killed(grouped, reference, tmp_path, forked):
    sources = odd_framework.make(tmp_path / "source")
    (tmp_path / "source" / "workloads" / "gemm" / "odd.py").write_text(PROGRAM.replace("{attack}", ASLEEP))
    host = f"""
import sys, time
from pathlib import Path
from bench.host.environments.variables import of_process
from bench.host.workers import control_group
from bench.host.workers.parent import Parent
from bench.host.workers.worker_process import WorkerProcess
if not {grouped}:
    control_group.own_group = lambda: None
root, folder = Path({str(ROOT)!r}), Path({str(tmp_path)!r})
w = WorkerProcess([sys.executable], folder=root, variables=dict(of_process(1), TMPDIR={str(tmp_path)!r}),
    log=folder / "worker.log", processors=[], sources={sources!r}, parent={forked})
if {forked}:
    w = Parent(w, "odd", lambda outer, inner: inner).fork(
        log=folder / "worker.log", processors=[], layout=None, variables={{}})
w.send(do="import", cell={odd_framework.CELL.to_json()!r}); w.receive(60)
w.send(do="prepare", seed=1, reference={reference!r}); w.receive(60)
w.pause(); print(w.process_id, flush=True); time.sleep(1000)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", host],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    started = [int(word) for word in (tmp_path / "worker.log").read_text().split()[1:]]
    assert len(started) == 3
    assert all(map(alive, started))
    process.kill()
    process.wait()
    process.stdout.close()
    assert gone(worker, *started)
    wait_for(lambda: not list(tmp_path.glob("benchmatrix-worker-*")))


@pytest.mark.parametrize("forked", [False, True], ids=["own", "forked"])
def test_the_temporary_folder_of_a_killed_worker_goes_at_once(launch, reference, tmp_path, forked):
    process, worker = launch(ASLEEP, forked)
    prepare(process, reference, tmp_path)
    assert list(tmp_path.rglob(f"benchmatrix-worker-{worker.process_id}-*"))
    os.kill(worker.process_id, signal.SIGKILL)
    process.take_turn()
    assert process.over
    wait_for(lambda: not list(tmp_path.rglob(f"benchmatrix-worker-{worker.process_id}-*")))
