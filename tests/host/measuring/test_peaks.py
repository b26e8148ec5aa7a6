"""Tests how the machine's peaks are asked for, combined, and held against a record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bench.cell import Cell
from bench.host.measuring import peaks
from bench.host.measuring.worker_process import Ended
from bench.record import FAILED, Record

CELL = Cell("torch1", "torch", "eager", "mlp-train", "tiny", "float32", "cpu", 2)
MEASURED: dict[str, Any] = {
    "torch1/cpu": {"flops_per_s": {"float32": 1e9}, "bandwidths": [[1000, 5e9], [100000, 1e9]]},
    "jax/cpu": {"flops_per_s": {"float32": 3e9}, "bandwidths": [[1000, 2e9], [100000, 2e9]]},
    "tf2/cpu": {"reason": "failed: boom"},
    "jax/gpu": {"flops_per_s": {"float32": 9e12}, "bandwidths": []},
}


class FakeWorker:
    def __init__(self, ends: str | None = None) -> None:
        self.asked: list[dict[str, Any]] = []
        self.ends = ends
        self.killed = False

    def send(self, **request: Any) -> None:
        self.asked.append(request)

    def receive(self, timeout_s: float) -> dict[str, Any]:
        if self.asked[-1]["do"] == self.ends:
            raise Ended(FAILED, "import", "boom")
        reasons = {"bfloat16": "no such kernel"}
        return {"flops_per_s": {"float32": 1.0}, "bandwidths": [[1, 2]], "reasons": reasons}

    def kill(self) -> None:
        self.killed = True


def record(step_ns: int, flops: float = 1e6, size: float = 1e3) -> Record:
    work = {"useful_flops": flops, "compulsory_bytes": size}
    return Record(CELL, 0, 1, "ok", sample_ns=[step_ns * 10], sample_steps=[10], work=work)


def test_every_environment_and_device_is_asked_once_for_all_its_precisions():
    cells = [CELL, replace(CELL, precision="bfloat16"), replace(CELL, mode="torchscript"), replace(CELL, device="gpu")]
    asked = [(cell.environment, cell.device, cell.workload, precisions) for cell, precisions in peaks.probes(cells)]
    assert asked == [
        ("torch1", "cpu", "gemm", ("float32", "bfloat16")),
        ("torch1", "gpu", "gemm", ("float32",)),
    ]


def test_what_a_worker_measures_is_kept_and_the_worker_goes():
    worker: Any = FakeWorker()
    assert peaks.measure(CELL, ["float32"], lambda cell: worker) == {
        "flops_per_s": {"float32": 1.0},
        "bandwidths": [[1, 2]],
        "reasons": {"bfloat16": "no such kernel"},
    }
    assert worker.killed
    assert worker.asked[1] == {"do": "peaks", "precisions": ["float32"]}


@pytest.mark.parametrize("request_name", ["import", "peaks"])
def test_a_worker_that_ends_leaves_a_reason(request_name):
    worker: Any = FakeWorker(request_name)
    assert peaks.measure(CELL, ["float32"], lambda cell: worker) == {"reason": "failed: boom"}
    assert worker.killed


def test_the_peak_is_the_best_of_all_frameworks_on_the_device():
    peak = peaks.combine(MEASURED, "cpu", "float32")
    assert peak == peaks.Peak(3e9, ((1000, 5e9), (100000, 2e9)))
    assert peaks.combine(MEASURED, "cpu", "bfloat16").flops_per_s is None


def test_a_record_faster_than_the_machine_is_implausible():
    # A million operations at three billion a second take 333 µs.
    assert "faster than this machine can be" in str(peaks.implausible(record(100_000), MEASURED))
    assert peaks.implausible(record(400_000), MEASURED) is None


def test_nothing_is_implausible_where_nobody_knows_the_peak():
    assert peaks.implausible(record(1), {}) is None
    assert peaks.implausible(replace(record(1), status="failed"), MEASURED) is None
