"""Tests the search for the largest batch with fake workers, and once with a real one."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.environments.variables import of_process
from bench.host.measuring.largest_batch import MOST, measure
from bench.host.workers.protocol import Ended
from bench.host.workers.worker_process import WorkerProcess
from bench.record import FAILED, OK, OUT_OF_MEMORY, TIMEOUT, UNSUPPORTED

CELL = Cell("numpy", "numpy", "eager", "mlp-train", "tiny", "float32", "cpu", 1)


class FakeWorker:
    """Fits a batch up to ``limit``; ends as ``ends`` says at the sizes it names."""

    stage = "build"

    def __init__(self, log: list[tuple[str, Any]], limit: int, ends: dict[int, Ended]) -> None:
        self._log, self._limit, self._ends = log, limit, ends
        self._request: dict[str, Any] = {}
        self._closed = False

    def send(self, **request: Any) -> None:
        self._request = request

    def receive(self, timeout_s: float) -> dict[str, Any]:
        if self._request["do"] == "import":
            self._log.append(("import", self._request["cap_bytes"]))
            return {"event": "imported"}
        items = self._request["items"]
        self._log.append(("fit", items))
        if items in self._ends:
            raise self._ends[items]
        if items > self._limit:
            raise Ended(OUT_OF_MEMORY, "first-call", "MemoryError")
        return {"event": "fitted", "peak_bytes": 10 * items, "items": 7 * items, "item": "token"}

    def pause(self) -> None: ...
    def resume(self) -> None: ...

    def close(self) -> None:
        self._closed = True

    def kill(self) -> None:
        self._log.append(("closed" if self._closed else "killed", None))


def search(limit: int, ends: dict[int, Ended] | None = None, most: int = MOST):
    log: list[tuple[str, Any]] = []
    found = measure(CELL, 1 << 20, 1, lambda cell: FakeWorker(log, limit, ends or {}), most=most)
    return found, log


def test_every_attempt_is_a_process_of_its_own_that_is_given_the_cap_and_ended():
    found, log = search(limit=45)
    assert (found.status, found.batch, found.items, found.item) == (OK, 45, 315, "token")
    assert len(found.attempts) == sum(what == "import" for what, _ in log)
    assert {value for what, value in log if what == "import"} == {1 << 20}
    assert sum(what == "closed" for what, _ in log) == sum(attempt.status == OK for attempt in found.attempts)
    assert sum(what == "killed" for what, _ in log) == sum(attempt.status != OK for attempt in found.attempts)
    best = next(attempt for attempt in found.attempts if attempt.batch == 45)
    assert best.peak_bytes == 450


def test_a_timeout_counts_as_not_fitting_and_is_told():
    found, _ = search(limit=1000, ends={64: Ended(TIMEOUT, "first-call", "no answer within 300 s")})
    assert (found.status, found.batch) == (OK, 63)
    assert found.reason == "64 ended with timeout: no answer within 300 s"
    assert [(a.status, a.reason) for a in found.attempts if a.batch == 64] == [(TIMEOUT, "no answer within 300 s")]


def test_what_memory_limits_needs_no_reason():
    assert search(limit=45)[0].reason is None


def test_the_largest_that_was_tried_is_told():
    found, _ = search(limit=1000, most=100)
    assert (found.batch, found.reason) == (100, "none larger than 100 was tried")


def test_not_even_one_item_says_why():
    found, _ = search(limit=0)
    assert (found.status, found.reason, found.batch) == (OUT_OF_MEMORY, "MemoryError", 0)
    assert [attempt.batch for attempt in found.attempts] == [32, 16, 8, 4, 2, 1]


@pytest.mark.parametrize(
    "ended", [Ended(UNSUPPORTED, "build", "workload gemm has no batch"), Ended(FAILED, "import", "no such module")]
)
def test_what_no_other_size_would_mend_ends_the_search(ended):
    found, _ = search(limit=1000, ends={32: ended})
    assert (found.status, found.reason, found.batch) == (ended.status, ended.reason, 0)
    assert len(found.attempts) == 1


def test_the_result_can_be_stored():
    stored = search(limit=45)[0].to_json()
    assert (stored["batch"], stored["cap_bytes"], stored["attempts"][0]["batch"]) == (45, 1 << 20, 32)


@pytest.mark.long
@pytest.mark.real
def test_a_real_cell_is_kept_to_its_cap(tmp_path):
    root = Path(__file__).resolve().parents[3]
    first = min(os.sched_getaffinity(0))
    started: list[WorkerProcess] = []

    def start(cell: Cell) -> WorkerProcess:
        log = tmp_path / f"{len(started)}.log"
        environment = of_process(1)
        started.append(WorkerProcess([sys.executable], folder=root, variables=environment, log=log, processors=[first]))
        return started[-1]

    found = measure(CELL, 16 << 20, 1, start)
    assert found.status == OK
    # A row needs 64 + 2 · 128 activations and their gradients, in float32 and some temporaries.
    assert 1_000 < found.batch < 64_000
    assert (found.items, found.item) == (found.batch, "row")
    assert {attempt.status for attempt in found.attempts} == {OK, OUT_OF_MEMORY}
    refused = measure(replace(CELL, workload="gemm"), 16 << 20, 1, start)
    assert refused.status == UNSUPPORTED
    assert "no batch" in str(refused.reason)
