"""Tests which runs are continued: those that the same machine measures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from example_study import study

from bench.cell import Cell
from bench.host.environments import Prepared
from bench.host.machine import facts
from bench.host.storage.identity import identity, programs
from bench.host.study.selection import Selection, select
from bench.registry import Registry

ROOT = Path(__file__).resolve().parents[3]
GPU = {"name": "H100", "memory_bytes": 80 << 30, "driver": "580.65"}


@pytest.fixture
def hashed(tmp_path: Path) -> Callable[[str], str]:
    found = study()
    plan = select(found, Selection())

    def make(device: str = "cpu") -> str:
        cells = tuple(replace(cell, device=device) for cell in plan.cells[:1])
        return identity(tmp_path, found, replace(plan, cells=cells), {}, facts.describe())

    return make


def test_a_lock_that_is_no_text_is_left_to_the_environment_that_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = study()
    monkeypatch.setattr("bench.host.storage.identity.locks.find_lock", lambda name, root: tmp_path / "lock.txt")
    (tmp_path / "lock.txt").write_bytes(b"torch==2.5\xff")
    prepared = {"old": Prepared("old", "failed")}
    assert identity(tmp_path, found, select(found, Selection()), prepared, {})


def test_another_generation_of_processors_with_the_same_name_does_not_continue_a_run(
    hashed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cloud machines hide the name: a run went on elsewhere, under the description of the first machine."""
    told = {"model name": "Intel(R) Xeon(R) Processor", "cpu family": "6", "model": "207"}
    monkeypatch.setattr(facts, "processor_facts", lambda: told)
    before = hashed("cpu")
    assert hashed("cpu") == before
    told["model"] = "143"
    assert hashed("cpu") != before


def test_another_gpu_does_not_continue_a_run_that_measures_any(
    hashed: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "gpus", lambda: [GPU])
    on_cpu, before = hashed("cpu"), hashed("gpu")
    monkeypatch.setattr(facts, "gpus", lambda: [GPU, GPU])
    assert hashed("gpu") == before, "one more of a kind"
    monkeypatch.setattr(facts, "gpus", lambda: [{**GPU, "name": "H200"}])
    assert hashed("gpu") != before
    assert hashed("cpu") == on_cpu


def test_other_input_data_under_the_same_name_do_not_continue_a_run(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    found = study(workloads={"lenet-train": {"data": str(tmp_path / "images")}})
    plan = select(found, Selection())
    before = identity(tmp_path, found, plan, {}, {})
    assert identity(tmp_path, found, plan, {}, {}) == before
    (tmp_path / "images" / "1.png").write_bytes(b"one")
    assert identity(tmp_path, found, plan, {}, {}) != before


def test_another_library_under_the_same_name_does_not_continue_a_run_and_one_that_could_not_be_made_does(
    tmp_path: Path,
) -> None:
    (tmp_path / "own.c").write_text("int one;")
    plain = study()
    changed = plain.environments["old"].model_copy(update={"preload": (str(tmp_path / "own.c"),)})
    found = plain.model_copy(update={"environments": {**plain.environments, "old": changed}})
    plan = select(found, Selection())
    failed, ready = (
        {"old": Prepared("old", "failed")},
        {"old": Prepared("old", "ok", manifest={"preloaded": {"a": "b"}})},
    )
    before = identity(tmp_path, found, plan, failed, {})
    assert identity(tmp_path, found, plan, ready, {}) == before, "a compiler was installed"
    (tmp_path / "own.c").write_text("int two;")
    assert identity(tmp_path, found, plan, ready, {}) != before
    (tmp_path / "own.c").unlink()
    assert identity(tmp_path, found, plan, ready, {})


def test_an_edited_program_has_another_digest_and_no_other_has(tmp_path: Path) -> None:
    mine = shutil.copytree(ROOT / "tests" / "extensions" / "toy", tmp_path / "mine")
    registry = Registry.of({"mine": str(mine)})
    cells = [Cell("here", "numpy", "eager", name, "check", "float32", "cpu", 1) for name in ("saxpy", "gemm")]
    plan: Any = SimpleNamespace(cells=cells)
    before = programs(registry, plan)
    assert before.keys() == {"here/saxpy", "here/gemm"}
    edited = mine / "workloads" / "saxpy" / "numpy.py"
    edited.write_text(edited.read_text() + "# slower\n")
    after = programs(registry, plan)
    assert after["here/saxpy"] != before["here/saxpy"]
    assert after["here/gemm"] == before["here/gemm"]
