"""Tests workers that are forked from a real parent, and parents that crash, hang and are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import odd_framework
import pytest

from bench.host.environments.variables import of_process
from bench.host.storage.references import References
from bench.host.workers import forked_worker
from bench.host.workers.forked_worker import ForkedWorker
from bench.host.workers.parent import Parent
from bench.host.workers.worker_process import Ended, WorkerProcess
from bench.registry import Registry

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def parent(tmp_path):
    """Start a parent of workers of the framework ``odd``."""
    started = []

    def begin(framework: str = "odd", **source: str) -> Parent:
        sources = odd_framework.make(tmp_path / "source", **source)
        connection = WorkerProcess(
            [sys.executable],
            folder=ROOT,
            variables=of_process(1),
            log=tmp_path / "logs" / "parent.log",
            processors=[],
            layout=7,
            sources=sources,
            parent=True,
        )
        started.append(Parent(connection, framework, lambda outer, inner: inner))
        return started[-1]

    yield begin
    for one in started:
        one.close()


@pytest.fixture
def fork(tmp_path):
    """Fork a worker and let it take its cell; its log has the name of the cell's mode."""

    def begin(parent: Parent, mode: str = "plain", **given) -> ForkedWorker:
        log = tmp_path / "logs" / f"{mode}.log"
        options = {"processors": [], "layout": 3, "variables": {}, **given}
        worker = parent.fork(log=log, **options)
        worker.send(do="import", cell=odd_framework.cell(mode).to_json())
        return worker

    return begin


@pytest.fixture(scope="session")
def reference(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("references")
    return str(References(ROOT, folder, 1, 1, Registry()).ensure(odd_framework.CELL, None))


def prepare(worker: ForkedWorker, reference: str) -> None:
    worker.send(do="prepare", seed=1, reference=reference)


def end_of(worker: ForkedWorker, timeout_s: float = 20.0) -> Ended:
    try:
        while True:
            worker.receive(timeout_s)
    except Ended as ended:
        return ended


def measured(worker: ForkedWorker, reference: str) -> dict:
    """Let a worker do everything and return its last answer."""
    assert worker.receive(20)["import_s"] > 0
    prepare(worker, reference)
    assert worker.receive(20)["first_call_s"] > 0
    worker.send(do="calibrate", sample_s=0.001)
    assert worker.receive(20)["warmup_ns"]
    worker.send(do="turn", samples=2, turn=0)
    assert len(worker.receive(20)["sample_ns"]) == 2
    worker.send(do="finish")
    answer = worker.receive(20)
    worker.close()
    return answer


def test_a_forked_worker_measures_a_cell(parent, fork, reference):
    worker = fork(parent())
    finished = measured(worker, reference)
    assert finished["settings"]["process"] == "forked after the import"
    assert finished["memory"]["baseline_bytes"] > finished["memory"]["import_bytes"] > 0
    assert worker.exit_code == 0


def test_workers_of_one_parent_share_its_import_and_its_addresses_and_nothing_that_they_compute(
    parent, fork, reference
):
    common = parent(at_import="import time; time.sleep(0.3)")
    first, second = fork(common), fork(common)
    figures = [worker.receive(20)["import_s"] for worker in (first, second)]
    assert min(figures) > 0.3
    assert abs(figures[0] - figures[1]) < 0.2
    assert first.process_id != second.process_id
    assert libraries(first.process_id) == libraries(second.process_id) != []
    assert {os.getsid(worker.process_id) for worker in (first, second)} == {first.process_id, second.process_id}


def test_a_worker_has_processors_and_variables_of_its_own(parent, fork, reference):
    last = max(os.sched_getaffinity(0))
    worker = fork(parent(), processors=[last], variables={"OMP_STEERED": "yes"})
    finished = measured(worker, reference)
    assert finished["settings"]["OMP_STEERED"] == "yes"
    assert finished["settings"]["processors"] == 1


def test_a_crash_ends_one_worker_and_no_other(parent, fork, reference):
    common = parent()
    broken, whole = fork(common, "crash"), fork(common)
    assert broken.receive(20)
    prepare(broken, reference)
    ended = end_of(broken)
    assert (ended.status, ended.stage) == ("failed", "build")
    assert "SIGSEGV" in ended.reason
    assert measured(whole, reference)


def test_a_hang_becomes_a_timeout_and_the_process_is_gone(parent, fork, reference):
    common = parent()
    worker, other = fork(common, "hang"), fork(common)
    worker.receive(20)
    prepare(worker, reference)
    ended = end_of(worker, 1.0)
    assert (ended.status, ended.stage, ended.reason) == ("timeout", "build", "no answer within 1 s")
    assert not alive(worker.process_id)
    assert measured(other, reference)


def test_a_lack_of_memory_is_that_of_one_cell(parent, fork, reference):
    common = parent()
    worker, other = fork(common, "memory"), fork(common)
    worker.receive(20)
    prepare(worker, reference)
    assert end_of(worker).status == "out-of-memory"
    assert measured(other, reference)


def test_a_kill_by_the_kernel_for_memory_is_told_apart(parent, fork, monkeypatch):
    common = parent()
    worker = fork(common)
    worker.receive(20)
    killed = worker._oom_kills + 1
    monkeypatch.setattr("bench.host.workers.forked_worker.oom_kills", lambda: killed)
    os.kill(worker.process_id, signal.SIGKILL)
    assert end_of(worker).reason == "killed by the kernel for lack of memory"


def test_what_a_worker_prints_is_in_its_log_and_the_end_of_it_in_the_reason(parent, fork, reference, tmp_path):
    worker = fork(parent(), "noisy")
    assert measured(worker, reference)
    log = (tmp_path / "logs" / "noisy.log").read_text()
    assert log.startswith("from python\nfrom the descriptor\n")
    assert "x" * 300_000 in log


def test_closing_ends_children_that_a_framework_left_behind(parent, fork, reference, tmp_path):
    worker = fork(parent(), "leave")
    assert measured(worker, reference)
    left = int((tmp_path / "logs" / "leave.log").read_text().split()[1])
    assert gone(left)


def test_a_paused_worker_is_stopped_before_the_next_request_to_another(parent, fork):
    common = parent()
    worker, other = fork(common), fork(common)
    worker.receive(20)
    other.receive(20)
    worker.pause()
    assert state(worker.process_id) == "T"
    # It is ready a moment before it sleeps; a worker that was stopped never does.
    wait_until(lambda: state(other.process_id) == "S")
    worker.resume()
    worker.send(do="move", processors=sorted(os.sched_getaffinity(0)))
    assert worker.receive(20) == {"event": "moved"}


def test_a_worker_that_is_stopped_late_goes_on(parent, fork, monkeypatch):
    common = parent()
    worker = fork(common)
    worker.receive(20)
    monkeypatch.setattr(forked_worker, "STOPPING_S", 0.05)
    os.kill(common._connection.process_id, signal.SIGSTOP)
    worker.pause()
    worker.resume()
    os.kill(common._connection.process_id, signal.SIGCONT)
    worker.send(do="move", processors=sorted(os.sched_getaffinity(0)))
    assert worker.receive(20) == {"event": "moved"}
    # What the parent told late of the first stop is not taken for the next.
    monkeypatch.undo()
    worker.pause()
    assert state(worker.process_id) == "T"


def test_a_parent_computes_nothing_while_a_worker_measures(parent, fork, reference):
    common = parent()
    worker = fork(common)
    worker.receive(20)
    prepare(worker, reference)
    worker.receive(20)
    worker.send(do="calibrate", sample_s=0.001)
    worker.receive(20)
    worker.send(do="turn", samples=1, turn=0)
    worker.receive(20)
    before = cpu_ticks(common._connection.process_id)
    worker.send(do="turn", samples=1000, turn=1)
    worker.receive(60)
    assert cpu_ticks(common._connection.process_id) - before <= 1


def test_an_import_that_fails_is_the_reason_of_every_cell(parent, fork):
    common = parent(at_import="raise ImportError('libodd.so is missing')")
    for worker in (fork(common), fork(common)):
        ended = end_of(worker)
        assert (ended.status, ended.stage) == ("failed", "import")
        assert "ImportError: libodd.so is missing" in ended.reason


def test_an_import_that_crashes_is_the_reason_of_every_cell(parent, fork):
    common = parent(at_import="print('cannot go on', file=sys.stderr, flush=True); os.abort()")
    for worker in (fork(common), fork(common)):
        ended = end_of(worker)
        assert (ended.status, ended.stage) == ("failed", "import")
        assert ended.reason == "killed by SIGABRT: cannot go on"


def test_an_import_that_hangs_is_a_timeout_of_every_cell(parent, fork):
    common = parent(at_import="time.sleep(1000)")
    common.await_import(2.0)
    ended = end_of(fork(common))
    assert (ended.status, ended.stage, ended.reason) == ("timeout", "import", "no answer within 2 s")
    assert not alive(common._connection.process_id)


@pytest.mark.usefixtures("no_oom_kills_beside")
def test_workers_end_with_their_parent_and_tell_why(parent, fork):
    common = parent()
    worker = fork(common)
    worker.receive(20)
    worker.pause()
    os.kill(common._connection.process_id, signal.SIGKILL)
    worker.resume()
    ended = end_of(worker)
    assert (ended.status, ended.stage) == ("failed", "import")
    assert ended.reason == "the process that it was forked from ended: killed by SIGKILL"
    assert gone(worker.process_id)


def test_parent_and_workers_die_with_their_host_even_when_stopped(tmp_path):
    source = odd_framework.make(tmp_path / "source")
    host = (
        "import sys, time; from pathlib import Path\n"
        "from bench.host.environments.variables import of_process\n"
        "from bench.host.workers.parent import Parent\n"
        "from bench.host.workers.worker_process import WorkerProcess\n"
        f"root, folder = Path({str(ROOT)!r}), Path({str(tmp_path)!r})\n"
        "w = WorkerProcess([sys.executable], folder=root, variables=of_process(1), log=folder / 'p.log',"
        f" processors=[], sources={source!r}, parent=True)\n"
        "p = Parent(w, 'odd', lambda outer, inner: inner)\n"
        "f = p.fork(log=folder / 'f.log', processors=[], layout=None, variables={})\n"
        f"f.send(do='import', cell={odd_framework.CELL.to_json()!r}); f.receive(20)\n"
        "f.pause(); print(w.process_id, f.process_id, flush=True); time.sleep(1000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", host], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    ids = [int(word) for word in process.stdout.readline().split()]
    assert all(map(alive, ids))
    process.kill()
    process.wait()
    process.stdout.close()
    assert all(map(gone, ids))


SLOW = "import time; time.sleep(0.5); kept = b'x' * (20 << 20)"
#: The same, where a function does it, and keeps the result.
SLOW_FUNCTION = f"kept = None\ndef work():\n    global kept\n    {SLOW}"
FAILING = "\ndef failing():\n    raise RuntimeError('no device')"


@pytest.mark.parametrize(
    ("module", "preloaded"),
    [(SLOW + FAILING, "slow_module"), (SLOW_FUNCTION + FAILING, "slow_module:work")],
    ids=["import", "call"],
)
def test_a_first_call_counts_what_the_parent_did_for_its_mode(parent, fork, reference, tmp_path, module, preloaded):
    (tmp_path / "slow_module.py").write_text(module)
    (tmp_path / "failing_module.py").write_text("raise RuntimeError('no device')")
    common = parent(module=preloaded, at_import=f"sys.path.insert(0, {str(tmp_path)!r})")
    failing = ("no_such_module", "failing_module", "slow_module:no_such_function", "slow_module:failing")
    common.preload((preloaded, *failing), 20.0)
    first_s, memory = {}, {}
    for mode in ("plain", "slow"):
        worker = fork(common, mode)
        assert worker.receive(20)["import_s"] < 0.5
        prepare(worker, reference)
        first_s[mode] = worker.receive(20)["first_call_s"]
        worker.send(do="finish")
        memory[mode] = worker.receive(20)["memory"]
        worker.close()
    assert first_s["plain"] < 0.5 <= first_s["slow"] < 1.0
    assert memory["slow"]["peak_bytes"] - memory["plain"]["peak_bytes"] == pytest.approx(20 << 20, rel=0.3)
    assert memory["slow"]["baseline_bytes"] == pytest.approx(memory["plain"]["baseline_bytes"], rel=0.05)


def libraries(process: int) -> list[str]:
    """List the addresses at which the code of libraries lies."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return sorted({line for line in lines if " r-xp " in line and "/" in line})


def alive(process: int) -> bool:
    try:
        return state(process) != "Z"
    except FileNotFoundError:
        return False


def gone(process: int) -> bool:
    """Wait some seconds for a process to end."""
    deadline = time.monotonic() + 5
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(process)


def wait_until(condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.001)


def state(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


def cpu_ticks(process: int) -> int:
    return sum(map(int, Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]))
