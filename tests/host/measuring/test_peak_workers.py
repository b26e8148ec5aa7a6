"""Tests which workers that measure peaks are forked, and that the cells of the first round have the same parents."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import odd_framework
import pytest
from laboratory import A, B, C, Laboratory

from bench.host.executors.events import Finished
from bench.host.executors.job import InstalledEnvironment, RowJob, RowRound
from bench.host.executors.local import LocalExecutor
from bench.host.executors.plausibility import probe
from bench.host.executors.starter import Starter
from bench.host.measuring import rounds
from bench.host.measuring.peak_workers import PeakWorkers
from bench.host.measuring.stopping import Stops
from bench.host.storage import journal
from bench.host.workers.protocol import ask

PROBES = {cell: probe(cell, "eager") for cell in (A, B)}


class Executor:
    """Notes what it is asked to prepare."""

    def __init__(self) -> None:
        self.begun: list[RowJob] = []

    def begin(self, job: RowJob) -> None:
        self.begun.append(job)

    def prepare(self, job: RowJob, label: str, announce: Any) -> Any:
        assert (self.begun, label) == ([job], "peaks")
        return lambda cell: f"forked {cell.environment}"


@pytest.fixture
def workers(tmp_path):
    """Make the workers of a run of these cells, and the executor that forks them."""

    def make(cells, *, containers=(), **changes) -> tuple[PeakWorkers, Executor]:
        laboratory, executor = Laboratory(tmp_path), Executor()
        manifests = {name: {"provider": "container" if name in containers else "venv"} for name in ("torch1", "jax")}
        run = rounds.Run(
            cells=cells,
            seed=1,
            samples=4,
            make_job=lambda *given: replace(laboratory.make_job(*given), **changes),
            executor=laboratory,
            journal=journal.Journal(tmp_path),
            stops=Stops(["row"], (1,), lambda records, rounds: cells),
        )
        installed = {name: InstalledEnvironment((), manifest) for name, manifest in manifests.items()}
        made: Any = PeakWorkers(run, executor, installed, lambda cell: f"own {cell.environment}")  # type: ignore[arg-type]
        return made, executor

    return make


def started(made: PeakWorkers) -> list[Any]:
    start = made.ready(lambda text: None)
    return [start(one) for one in PROBES.values()]


def test_peaks_are_measured_in_workers_that_are_forked_beside_the_first_round(workers):
    made, executor = workers([A, B, C])
    made.begin(PROBES.values())
    (job,) = executor.begun
    assert job.row_round == RowRound(0, A.row, (A, B, C), 1, (0, 0, 0))
    assert started(made) == ["forked torch1", "forked jax"]


def test_nothing_begins_where_all_peaks_are_kept(workers):
    made, executor = workers([A, B])
    made.begin([])
    assert started(made) == ["own torch1", "own jax"]
    assert executor.begun == []


@pytest.mark.parametrize("changes", [{"forked": False}, {"trial": True}], ids=["own", "trial"])
def test_where_cells_are_not_forked_peaks_have_processes_of_their_own(workers, changes):
    made, executor = workers([A, B], **changes)
    made.begin(PROBES.values())
    assert started(made) == ["own torch1", "own jax"]
    assert executor.begun == []


def test_containers_and_fewer_threads_have_processes_of_their_own(workers):
    made, executor = workers([A, B, replace(C, threads=1)], containers=["jax"])
    made.begin([*PROBES.values(), replace(PROBES[A], threads=1)])
    assert executor.begun[0].row_round.cells == (A,)
    assert started(made) == ["forked torch1", "own jax"]
    assert made.ready(lambda text: None)(replace(PROBES[A], threads=1)) == "own torch1"


@pytest.mark.parametrize(
    ("mode", "first"),
    [
        ("plain", "importing the frameworks"),
        ("header", "compiling what later runs share, then importing"),
    ],
)
def test_the_first_row_goes_on_with_the_processes_that_the_peaks_were_forked_from(tmp_path, monkeypatch, mode, first):
    cell = odd_framework.cell(mode)
    job = odd_framework.job(odd_framework.make(tmp_path / "source"), cell)
    parents = []
    start = Starter.start

    def noted(self, *given, **options):
        worker = start(self, *given, **options)
        parents.append(worker._parent)
        return worker

    monkeypatch.setattr(Starter, "start", noted)
    events: list[Any] = []
    said: list[str] = []
    with contextlib.closing(LocalExecutor(tmp_path, tmp_path)) as executor:
        executor.begin(job)
        worker = executor.prepare(job, "peaks", said.append)(probe(cell, "plain"))
        ask(worker, 20.0, do="import", cell=probe(cell, "plain").to_json())
        assert ask(worker, 60.0, do="peaks", precisions=["float32"])["flops_per_s"]["float32"] > 1e8
        worker.kill()
        executor.run(job, events.append)
    (record,) = [event.record for event in events if isinstance(event, Finished)]
    assert record.status == "ok"
    assert (said, len(parents)) == ([first], 2)
    assert parents[0] is parents[1]
