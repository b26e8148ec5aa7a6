"""Tests workers that are forked from a real parent: what they share, how one ends beside others, and its pauses."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import odd_framework
from processes import PATIENCE_S, alive, cpu_ticks, end_of, gone, prepare
from small_project import wait_for

from bench.host.workers import forked_worker
from bench.host.workers.forked_worker import ForkedWorker
from bench.worker import family


def measured(worker: ForkedWorker, reference: str) -> dict:
    """Let a worker do everything and return its last answer."""
    assert worker.receive(PATIENCE_S)["import_s"] > 0
    prepare(worker, reference)
    assert worker.receive(PATIENCE_S)["first_call_s"] > 0
    worker.send(do="calibrate", sample_s=0.001)
    assert worker.receive(PATIENCE_S)["warmup_ns"]
    worker.send(do="turn", samples=2, turn=0)
    assert len(worker.receive(PATIENCE_S)["sample_ns"]) == 2
    worker.send(do="finish")
    answer = worker.receive(PATIENCE_S)
    worker.close()
    return answer


def test_a_forked_worker_measures_a_cell(parent, fork, reference):
    worker = fork(parent())
    finished = measured(worker, reference)
    assert finished["settings"]["process"] == "forked after the import"
    assert finished["memory"]["baseline_bytes"] > finished["memory"]["import_bytes"] > 0
    assert worker.exit_code == 0


def test_workers_of_one_parent_share_its_import_and_its_addresses_and_nothing_that_they_compute(
    parent, fork, reference, tmp_path
):
    imports = tmp_path / "imports"
    noting = f"time.advance(100); print(os.getpid(), file=open({str(imports)!r}, 'a'))"
    common = parent(at_import=odd_framework.STANDING_CLOCK + noting)
    first, second = fork(common), fork(common)
    figures = [worker.receive(PATIENCE_S)["import_s"] for worker in (first, second)]
    assert imports.read_text().split() == [str(common._connection.process_id)]
    assert figures[0] == figures[1] > 100
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
    assert broken.receive(PATIENCE_S)
    prepare(broken, reference)
    ended = end_of(broken)
    assert (ended.status, ended.stage) == ("failed", "build")
    assert "SIGSEGV" in ended.reason
    assert measured(whole, reference)


def test_a_hang_becomes_a_timeout_and_the_process_is_gone(parent, fork, reference):
    common = parent()
    worker, other = fork(common, "hang"), fork(common)
    worker.receive(PATIENCE_S)
    prepare(worker, reference)
    # It has said where it is before the time counts.
    assert common.wait_for(lambda: b'"build"' in b"".join(worker._said), PATIENCE_S)
    ended = end_of(worker, 1.0)
    assert (ended.status, ended.stage, ended.reason) == ("timeout", "build", "no answer within 1 s")
    assert not alive(worker.process_id)
    assert measured(other, reference)


def test_a_lack_of_memory_is_that_of_one_cell(parent, fork, reference):
    common = parent()
    worker, other = fork(common, "memory"), fork(common)
    worker.receive(PATIENCE_S)
    prepare(worker, reference)
    assert end_of(worker).status == "out-of-memory"
    assert measured(other, reference)


def test_a_kill_by_the_kernel_for_memory_is_told_apart(parent, fork, monkeypatch):
    common = parent()
    worker = fork(common)
    worker.receive(PATIENCE_S)
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


def test_workers_end_at_the_same_time_and_one_that_hangs_is_killed(parent, fork, monkeypatch):
    common = parent()
    workers = [fork(common), fork(common), fork(common)]
    for worker in workers:
        worker.receive(PATIENCE_S)
    # It does not come to its end.
    os.kill(workers[1].process_id, signal.SIGSTOP)
    for worker in workers:
        worker.end_input()
    for worker, closing_s in zip(workers, (PATIENCE_S, 1.0, PATIENCE_S), strict=True):
        monkeypatch.setattr(forked_worker, "CLOSING_S", closing_s)
        worker.close()
    assert [worker.exit_code for worker in workers] == [0, -signal.SIGKILL, 0]
    assert common.ended is None


def test_a_paused_worker_is_stopped_before_the_next_request_to_another(parent, fork):
    common = parent()
    worker, other = fork(common), fork(common)
    worker.receive(PATIENCE_S)
    other.receive(PATIENCE_S)
    worker.pause()
    assert family.state(worker.process_id) == "T"
    # It is ready a moment before it sleeps; a worker that was stopped never does.
    wait_for(lambda: family.state(other.process_id) == "S")
    worker.resume()
    worker.send(do="move", processors=sorted(os.sched_getaffinity(0)))
    assert worker.receive(PATIENCE_S) == {"event": "moved"}


def test_a_worker_that_is_stopped_late_goes_on(parent, fork, monkeypatch):
    common = parent()
    worker = fork(common)
    worker.receive(PATIENCE_S)
    monkeypatch.setattr(forked_worker, "STOPPING_S", 0.05)
    os.kill(common._connection.process_id, signal.SIGSTOP)
    worker.pause()
    worker.resume()
    os.kill(common._connection.process_id, signal.SIGCONT)
    worker.send(do="move", processors=sorted(os.sched_getaffinity(0)))
    assert worker.receive(PATIENCE_S) == {"event": "moved"}
    # What the parent told late of the first stop is not taken for the next.
    monkeypatch.undo()
    worker.pause()
    assert family.state(worker.process_id) == "T"


def test_a_parent_computes_nothing_while_a_worker_measures(parent, fork, reference):
    common = parent()
    worker = fork(common)
    worker.receive(PATIENCE_S)
    prepare(worker, reference)
    worker.receive(PATIENCE_S)
    worker.send(do="calibrate", sample_s=0.001)
    worker.receive(PATIENCE_S)
    worker.send(do="turn", samples=1, turn=0)
    worker.receive(PATIENCE_S)
    before = cpu_ticks(common._connection.process_id)
    worker.send(do="turn", samples=1000, turn=1)
    worker.receive(PATIENCE_S)
    assert cpu_ticks(common._connection.process_id) - before <= 1


def libraries(process: int) -> list[str]:
    """List the addresses at which the code of libraries lies."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return sorted({line for line in lines if " r-xp " in line and "/" in line})
