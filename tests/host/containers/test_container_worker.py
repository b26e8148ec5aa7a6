"""Tests workers in real containers that crash, hang, run out of memory or lose their engine."""

from __future__ import annotations

import time

import pytest

from bench.host.containers import leftovers
from bench.host.containers.engine import NoEngine
from bench.host.containers.labels import CONTAINER, selector
from bench.host.workers.protocol import Ended
from bench.worker import family

pytestmark = [pytest.mark.engine, pytest.mark.long]
HOG = "bytearray(1 << 30)"
LIMIT = 128 << 20


def end_of(worker, timeout_s: float = 30.0) -> Ended:
    with pytest.raises(Ended) as caught:
        worker.receive(timeout_s)
    return caught.value


def test_a_request_gets_its_answer_and_the_container_is_removed(start, engine, root):
    worker = start(
        'say(event="started"); r = hear(); print("log", file=sys.stderr); say(event="done", got=r["do"]); hear()'
    )
    worker.send(do="finish")
    assert worker.receive(60) == {"event": "done", "got": "finish"}
    assert worker.process_id > 1
    worker.send(do="end")
    worker.close()
    assert worker.log.read_text() == "log\n"
    assert engine.api.containers(all=True, filters={"label": selector(CONTAINER, root)}) == []


def test_the_digest_of_the_image_is_among_the_versions(start):
    worker = start('say(event="imported", versions={"python": "3"}, import_s=1)')
    assert worker.receive(60)["versions"] == {"image": worker._image, "python": "3"}


def test_a_segmentation_fault_becomes_failed(start):
    end = end_of(start('say(event="stage", stage="first-call"); os.kill(os.getpid(), signal.SIGSEGV)'))
    assert (end.status, end.stage, end.reason) == ("failed", "first-call", "killed by SIGSEGV")


def test_an_exit_code_and_the_end_of_the_log_are_in_the_reason(start):
    end = end_of(start('print("libfoo: not found", file=sys.stderr); sys.exit(3)'))
    assert (end.status, end.reason) == ("failed", "the worker ended with exit code 3: libfoo: not found")


def test_too_much_memory_becomes_out_of_memory(start):
    end = end_of(start(f'say(event="stage", stage="build"); {HOG}', memory_bytes=LIMIT))
    assert (end.status, end.stage) == ("out-of-memory", "build")


@pytest.mark.parametrize(
    "rest",
    [
        "",
        '; say(event="ended", status="failed", stage="build", reason="the compiler was killed")',
        '; say(event="stage", stage="build"); say(event="finished", memory={}, settings={}); hear()',
    ],
    ids=["that ends", "that fails", "that goes on"],
)
def test_a_child_that_takes_too_much_memory_makes_its_worker_out_of_memory(start, engine, rest):
    if engine.product == "podman" and "finished" in rest:
        pytest.skip("Podman does not report which process the kernel killed")
    end = end_of(start(f"subprocess.run([sys.executable, '-c', '{HOG}']){rest}", memory_bytes=LIMIT))
    assert end.status == "out-of-memory"


def test_a_hang_becomes_a_timeout_and_the_container_is_gone(start, engine, root):
    worker = start('say(event="stage", stage="measure"); say(event="ready"); time.sleep(1000)')
    assert worker.receive(60) == {"event": "ready"}
    end = end_of(worker, 1.5)
    assert (end.status, end.stage, end.reason) == ("timeout", "measure", "no answer within 1.5 s")
    assert engine.api.containers(all=True, filters={"label": selector(CONTAINER, root)}) == []


@pytest.mark.usefixtures("no_oom_kills_beside")
@pytest.mark.parametrize(("action", "reason"), [("kill", "killed by SIGKILL"), ("remove", "removed from outside")])
def test_a_container_that_is_killed_or_removed_becomes_failed(start, engine, action, reason):
    worker = start('say(event="stage", stage="measure"); say(event="ready"); time.sleep(1000)')
    worker.receive(60)
    if action == "kill":
        engine.api.kill(worker._container)
    else:
        engine.api.remove_container(worker._container, force=True)
    end = end_of(worker)
    assert (end.status, end.stage) == ("failed", "measure")
    assert reason in end.reason or "killed by SIGKILL" in end.reason


def test_nonsense_becomes_failed(start):
    end = end_of(start('print("no message", flush=True); time.sleep(100)'))
    assert end.status == "failed"
    assert "which is not a message" in end.reason


def test_a_paused_container_uses_no_processor_time_and_goes_on_after(start):
    worker = start(
        "import threading\n"
        "def spin():\n    while True: pass\n"
        "threading.Thread(target=spin, daemon=True).start()\n"
        "while True:\n    hear(); say(event='cpu', s=time.process_time(), at=time.monotonic())"
    )
    worker.send(do="x")
    computed_s = worker.receive(60)["s"]
    (process,) = family.descendants(worker.process_id)
    worker.pause()
    first = None
    for waited_s in (0.0, 0.5):
        before_s = cpu_seconds(process)
        # This is the process that computes.
        assert before_s >= computed_s
        time.sleep(waited_s)
        # A tick of the kernel's clock at most.
        assert cpu_seconds(process) - before_s <= 0.01
        worker.resume()
        worker.send(do="x")
        answer = worker.receive(60)
        worker.pause()
        computed_s = answer["s"]
        first = first or answer
    assert answer["at"] - first["at"] > 0.5
    assert answer["s"] > first["s"]


def cpu_seconds(process: int) -> float:
    """Read the clock of a process, see clock_getcpuclockid(3)."""
    return time.clock_gettime((~process << 3) | 2)


def test_a_missing_image_is_reported_and_its_cell_can_be_measured_later(start):
    with pytest.raises(Ended) as caught:
        start("pass", image="sha256:" + "0" * 64)
    assert (caught.value.status, caught.value.stage) == ("failed", "environment")
    assert "the next session builds it again" in caught.value.reason


def test_a_missing_engine_is_reported_and_its_cell_can_be_measured_later(start):
    def nowhere():
        raise NoEngine("no container engine answers")

    with pytest.raises(Ended) as caught:
        start("pass", engine=nowhere)
    assert (caught.value.stage, caught.value.reason) == ("environment", "no container engine answers")


def test_only_containers_of_this_checkout_are_swept(start, engine, root):
    other = engine.api.create_container(start("hear()")._image, ["true"], labels={CONTAINER: "another checkout"})["Id"]
    try:
        worker = start("hear(); time.sleep(1000)")
        worker.pause()
        assert leftovers.sweep(engine, root) == 2
        assert engine.api.containers(all=True, filters={"label": selector(CONTAINER, root)}) == []
        assert len(engine.api.containers(all=True, filters={"id": other})) == 1
    finally:
        engine.api.remove_container(other)
