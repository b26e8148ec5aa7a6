"""Tests what a forked worker is started with."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench.cell import Cell
from bench.host.executors.job import InstalledEnvironment
from bench.host.executors.starter import Starter
from bench.host.storage.compile_caches import CompileCaches
from bench.registry import BUILT_IN

CELL = Cell("torch2", "torch", "eager", "gemm", "check", "float32", "gpu", 1)
OF_STUDY = {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "FASTEST_FIRST"}


@pytest.mark.parametrize("most_threads", [1, 2])
@pytest.mark.parametrize(
    ("of_study", "told"),
    [
        ({}, ("0", "PCI_BUS_ID")),
        ({"CUDA_VISIBLE_DEVICES": "1"}, ("1", "PCI_BUS_ID")),
        (OF_STUDY, ("1", "FASTEST_FIRST")),
    ],
)
def test_a_forked_worker_sees_the_gpu_that_the_study_names(tmp_path, monkeypatch, most_threads, of_study, told):
    for name in OF_STUDY:
        monkeypatch.delenv(name, raising=False)
    seen: dict[str, Any] = {}
    parent = SimpleNamespace(fork=lambda **given: seen.update(given["variables"]))
    starter = Starter(
        tmp_path,
        tmp_path,
        {"torch2": InstalledEnvironment((sys.executable,), variables=of_study)},
        CompileCaches(tmp_path / "caches", "run", True, registry=BUILT_IN),
        parents=cast(Any, SimpleNamespace(get=lambda key: parent)),
        most_threads=most_threads,
    )
    starter.start(CELL, "r1", processors=[0])
    assert (seen["CUDA_VISIBLE_DEVICES"], seen["CUDA_DEVICE_ORDER"]) == told
