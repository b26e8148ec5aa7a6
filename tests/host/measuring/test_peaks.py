"""Tests which frameworks measure the peaks of the machine, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.executors import plausibility
from bench.host.executors.job import InstalledEnvironment
from bench.host.measuring import kept, peaks
from bench.host.storage.kept_peaks import KeptPeaks
from bench.host.workers.messages import ANSWERS
from bench.host.workers.protocol import Ended
from bench.record import FAILED
from bench.registry import BUILT_IN

CELL = Cell("torch1", "torch", "eager", "mlp-train", "tiny", "float32", "cpu", 2)


class FakeWorker:
    stage = "measure"

    def __init__(self, ends: str | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.ends = ends
        self.killed = False
        self.reasons = {"bfloat16": "no such kernel"}

    def send(self, **request: Any) -> None:
        self.asked.append(request)

    def receive(self, timeout_s: float) -> dict[str, Any]:
        if self.asked[-1]["do"] == self.ends:
            raise Ended(FAILED, "import", "boom")
        event = ANSWERS[self.asked[-1]["do"]]
        return {"event": event, "flops_per_s": {"float32": 1.0}, "bandwidths": [[1, 2]], "reasons": self.reasons}

    def kill(self) -> None:
        self.killed = True


def test_every_environment_and_device_is_asked_once_for_all_its_precisions():
    cells = [CELL, replace(CELL, precision="bfloat16"), replace(CELL, mode="torchscript"), replace(CELL, device="gpu")]
    probes = peaks.probes(cells, BUILT_IN).values()
    asked = [(cell.environment, cell.device, cell.workload, precisions) for cell, precisions in probes]
    assert asked == [
        ("torch1", "cpu", "gemm", ("float32", "bfloat16")),
        ("torch1", "gpu", "gemm", ("float32",)),
    ]


def test_the_plain_mode_measures_for_all_and_a_twin_adds_none():
    cells = [replace(CELL, mode="compile"), replace(CELL, environment="torch1~twin")]
    assert [(key, cell.mode) for key, (cell, _) in peaks.probes(cells, BUILT_IN).items()] == [("torch1/cpu", "eager")]


def test_a_track_of_fewer_threads_has_peaks_of_its_own():
    one, two = (replace(CELL, threads=count, threads_named=True) for count in (1, 2))
    assert {key: cell.threads for key, (cell, _) in peaks.probes([one, two], BUILT_IN).items()} == {
        "torch1/cpu/1": 1,
        "torch1/cpu": 2,
    }


def test_a_workload_that_only_has_fewer_threads_needs_no_peaks():
    assert list(peaks.probes([replace(CELL, workload="dispatch", threads=1), CELL], BUILT_IN)) == ["torch1/cpu"]


def test_what_a_worker_measures_is_kept_and_the_worker_goes():
    worker: Any = FakeWorker()
    assert plausibility.measure(CELL, ["float32"], lambda cell: worker) == {
        "flops_per_s": {"float32": 1.0},
        "bandwidths": [[1, 2]],
        "reasons": {"bfloat16": "no such kernel"},
    }
    assert worker.killed
    assert worker.asked[1] == {"do": "peaks", "precisions": ["float32"]}


@pytest.mark.parametrize("request_name", ["import", "peaks"])
def test_a_worker_that_ends_leaves_a_reason(request_name):
    worker: Any = FakeWorker(request_name)
    assert plausibility.measure(CELL, ["float32"], lambda cell: worker) == {"reason": "failed: boom"}
    assert worker.killed


def test_peaks_that_were_measured_with_other_variables_are_not_those_of_an_environment(tmp_path):
    """Such as one that allows older instructions only: without it, cells were judged by its lower peaks for a day."""

    def kept_with(**variables: str) -> KeptPeaks:
        installed = InstalledEnvironment(("python",), {"lock_hash": "a"}, variables)
        return kept.peaks(tmp_path, BUILT_IN, ["torch"], {"torch1": installed}, {"processor": "x"})

    found = {"flops_per_s": {"float32": 5.0}, "bandwidths": [[1, 2.0]], "reasons": {}}
    kept_with(ONEDNN_MAX_CPU_ISA="SSE41").keep(CELL, ["float32"], found)
    assert kept_with(ONEDNN_MAX_CPU_ISA="SSE41").get(CELL, ["float32"]) == found
    assert kept_with().get(CELL, ["float32"]) is None


def test_kept_peaks_are_not_measured_again(tmp_path):
    kept = KeptPeaks(tmp_path, {}, {}, {}, lambda: 1e9)
    started: list[Cell] = []

    def start(cell: Cell) -> Any:
        started.append(cell)
        worker = FakeWorker()
        worker.reasons = {}
        return worker

    def found(known: tuple[str, ...] = ()) -> dict[str, Any]:
        return dict(peaks.measure_missing(peaks.probes([CELL], BUILT_IN), known, start, lambda text: None, kept))

    first = found()
    assert list(first) == ["torch1/cpu"]
    assert found() == first
    assert found(("torch1/cpu",)) == {}
    assert len(started) == 1
