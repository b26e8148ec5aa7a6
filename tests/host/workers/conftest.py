"""Fixtures of workers that are forked: a real parent of the framework ``odd``, its workers, and a reference."""

from __future__ import annotations

import sys

import odd_framework
import pytest
from processes import PATIENCE_S, ROOT

from bench.host.environments.variables import of_process
from bench.host.storage.references import References
from bench.host.workers import forked_worker, worker_process
from bench.host.workers.forked_worker import ForkedWorker
from bench.host.workers.parent import Parent
from bench.host.workers.worker_process import WorkerProcess
from bench.registry import Registry


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers take their time to end: one that was killed for being late would have another exit code."""
    for module in (forked_worker, worker_process):
        monkeypatch.setattr(module, "CLOSING_S", PATIENCE_S)


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
