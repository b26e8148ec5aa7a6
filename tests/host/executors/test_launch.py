"""Tests what a cell's worker is started with."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from types import SimpleNamespace

from bench.cell import Cell
from bench.host.executors.job import InstalledEnvironment
from bench.host.executors.launch import Launch
from bench.host.storage.compile_caches import CompileCaches
from bench.registry import Registry

CELL = Cell("numpy", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
#: Answers like a worker, with its own variables and arguments.
TELL = """
import json, os, shutil, sys
hash_seed = os.environ.get("PYTHONHASHSEED")
huge = os.environ.get("NUMPY_MADVISE_HUGEPAGE")
print(json.dumps({
    "event": "told", "hash_seed": hash_seed, "huge": huge, "python": shutil.which("python"),
    "gpus": os.environ.get("CUDA_VISIBLE_DEVICES"), "order": os.environ.get("CUDA_DEVICE_ORDER"),
    "waits": os.environ.get("OMP_WAIT_POLICY"), "lines": os.environ.get("AOT_INDUCTOR_ENABLE_LINE_TABLES"),
    "path": os.environ["PATH"], "arguments": sys.argv[3:],
}))
sys.stdout.flush()
sys.stdin.read()
"""


def told(tmp_path, layout, cell=CELL, sources=None, manifest=None, trial=False, **extra):
    """Start what stands in for a worker and return what it was given."""
    script = tmp_path / "fake.py"
    script.write_text(TELL)
    worker = Launch(
        InstalledEnvironment((sys.executable, str(script)), variables=extra, manifest=manifest or {}),
        cell,
        root=tmp_path,
        caches=CompileCaches(tmp_path / "caches", "run", True, registry=Registry.of(sources or {}), trial=trial),
        log=tmp_path / "worker.log",
        processors=(0,),
        layout=layout,
    ).worker()
    try:
        return worker.receive(10.0)
    finally:
        worker.kill()


def test_a_layout_holds_for_memory_and_for_hashes(tmp_path):
    found = told(tmp_path, 7)
    assert found["hash_seed"] == "7"
    assert found["arguments"] == ["--processors", "0", "--layout", "7"]


def test_without_a_layout_nothing_is_fixed(tmp_path):
    found = told(tmp_path, None)
    assert found["hash_seed"] is None
    assert found["arguments"] == ["--processors", "0"]


def test_numpy_asks_for_huge_pages_only_where_it_is_measured(tmp_path):
    assert told(tmp_path, 7)["huge"] is None
    assert told(tmp_path, 7, replace(CELL, environment="jax", framework="jax", mode="jit"))["huge"] == "0"


def test_what_an_environment_asks_for_holds(tmp_path):
    assert told(tmp_path, 7, PYTHONHASHSEED="0")["hash_seed"] == "0"


def test_threads_wait_busily_where_they_are_timed_and_not_in_a_trial(tmp_path):
    assert told(tmp_path, None)["waits"] is None
    assert told(tmp_path, None, trial=True)["waits"] == "passive"


def test_a_trial_has_the_variables_by_which_its_framework_compiles_in_less_time(tmp_path):
    torch = replace(CELL, framework="torch")
    assert told(tmp_path, None, torch)["lines"] is None
    assert told(tmp_path, None, torch, trial=True)["lines"] == "0"


def test_a_worker_on_gpus_sees_those_that_its_cell_computes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3,4")
    eager = replace(CELL, environment="torch2", framework="torch", device="gpu")
    assert told(tmp_path, None, eager)["gpus"] == "2"
    assert told(tmp_path, None, eager)["order"] == "PCI_BUS_ID"
    assert told(tmp_path, None, replace(eager, mode="ddp", devices=2))["gpus"] == "2,3"
    assert told(tmp_path, None, eager, CUDA_VISIBLE_DEVICES="4")["gpus"] == "4", "the study says which"
    assert told(tmp_path, None, replace(eager, device="cpu"))["gpus"] == "2,3,4"


def test_the_interpreter_is_the_one_that_its_programs_find(tmp_path):
    found = told(tmp_path, None)["python"]
    assert os.path.samefile(found, sys.executable)
    assert os.path.dirname(found) == os.path.dirname(sys.executable)


def test_the_programs_of_an_interpreter_behind_a_script_come_first(tmp_path):
    manifest = {"interpreter": {"executable": "/somewhere/bin/python"}}
    assert told(tmp_path, None, manifest=manifest)["path"].startswith("/somewhere/bin:")


def test_a_worker_is_told_where_other_peoples_code_is(tmp_path):
    source = ("--source", f"mine={tmp_path / 'mine'}")
    assert told(tmp_path, None, sources={"mine": str(tmp_path / "mine")})["arguments"] == ["--processors", "0", *source]


def test_a_container_is_given_other_peoples_code_to_read(tmp_path, monkeypatch):
    seen = {}
    monkeypatch.setattr("bench.host.executors.launch._engine_connection", lambda: SimpleNamespace(engine=None))
    monkeypatch.setattr("bench.host.containers.worker.ContainerWorker", lambda *given, **named: seen.update(named))
    Launch(
        InstalledEnvironment(("python",), manifest={"provider": "container", "image": {"id": "sha256:0"}}),
        CELL,
        root=tmp_path,
        caches=CompileCaches(tmp_path / "caches", "run", True, registry=Registry.of({"mine": str(tmp_path / "mine")})),
        log=tmp_path / "worker.log",
        processors=(0,),
    ).worker()
    assert tmp_path / "mine" in seen["bounds"].read
    assert tmp_path / "mine" not in seen["bounds"].write
