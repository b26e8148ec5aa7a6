"""Tests that PyTorch's CPU build is installed where an index is given and there is no GPU, from a lock of its own."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace

import pytest
from wheels import PYTHON, Wanted, make_wheel

from bench.host import environments
from bench.host.environments import cpu_builds, locks, venv
from bench.host.environments.locks import LockRequest
from bench.host.environments.source_builds import LockError
from bench.host.setup.installer import further_source
from bench.record import FAILED, OK

WANTED = Wanted(requirements=("torch==2.0.0", "tinyframe==1.0"))


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch):
    monkeypatch.setattr(cpu_builds.facts, "gpus", list)


@pytest.fixture
def builds(tmp_path):
    """Return a folder with the CPU build and another file."""
    folder = tmp_path / "cpu builds"
    folder.mkdir()
    make_wheel(folder, name="torch", version="2.0.0+cpu")
    make_wheel(folder, name="torch", version="1.9.0+cpu")
    (folder / "torch-broken.whl").write_bytes(b"x")
    return folder


@pytest.fixture
def served(index, root, tmp_path, monkeypatch, builds):
    """Serve the usual builds in the usual index; return the address of another one, with the CPU build."""
    index(make_wheel(root))
    server = os.environ["UV_DEFAULT_INDEX"]
    for folder, wheel in (("torch", make_wheel(root, name="torch", version="2.0.0")), ("cpu/torch", None)):
        pages = tmp_path / "index" / folder
        pages.mkdir(parents=True)
        wheel = wheel or builds / "torch-2.0.0+cpu-py3-none-any.whl"
        (pages / wheel.name).write_bytes(wheel.read_bytes())
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        (pages / "index.html").write_text(f'<a href="{wheel.name}#sha256={digest}">{wheel.name}</a>')
    return f"{server}cpu/"


@pytest.fixture(params=["uv", "pip"])
def tool(request, monkeypatch):
    """Install with each tool; the lock is made by uv in any case."""
    if request.param == "pip":
        monkeypatch.setattr(venv, "find_uv", lambda root: None)
    return request.param


@pytest.mark.long
@pytest.mark.parametrize("kind", ["folder", "index"])
def test_the_cpu_build_is_installed_from_a_lock_of_its_own(tool, kind, root, served, builds, announce):
    usual = environments.prepare(WANTED, root=root, announce=announce)
    assert (usual.status, usual.manifest["packages"]["torch"]) == (OK, "2.0.0"), usual.reason
    before = locks.lock_path("tiny", root).read_bytes()
    wanted = replace(WANTED, cpu_index=served if kind == "index" else str(builds))
    prepared = environments.prepare(wanted, root=root, announce=announce)
    assert (prepared.status, prepared.reason) == (OK, None)
    assert prepared.manifest["packages"]["torch"] == "2.0.0+cpu"
    assert prepared.manifest["packages"]["tinyframe"] == "1.0"
    text = locks.lock_path("tiny.cpu", root).read_text()
    assert "torch==2.0.0+cpu \\\n    --hash=sha256:" in text
    assert "://" not in text
    assert str(builds) not in text
    assert prepared.manifest["lock_hash"] == locks.lock_hash(locks.lock_path("tiny.cpu", root))
    assert locks.lock_path("tiny", root).read_bytes() == before


def test_a_machine_with_a_gpu_installs_the_usual_build(root, served, announce, monkeypatch):
    monkeypatch.setattr(cpu_builds.facts, "gpus", lambda: [{"name": "GPU", "driver": "999"}])
    wanted = replace(WANTED, cpu_index=served)
    assert (cpu_builds.source_of(wanted), cpu_builds.lock_name(wanted)) == (None, "tiny")
    prepared = environments.prepare(wanted, root=root, announce=announce)
    assert prepared.manifest["packages"]["torch"] == "2.0.0"
    assert not locks.lock_path("tiny.cpu", root).exists()


def test_another_wheel_under_the_same_name_is_not_installed(tool, root, served, builds, announce):
    wanted = replace(WANTED, cpu_index=str(builds))
    locks.present(
        LockRequest("tiny.cpu", PYTHON, wanted.requirements, source=str(builds)), root=root, announce=announce
    )
    make_wheel(builds, name="torch", version="2.0.0+cpu", value=666)
    prepared = environments.prepare(wanted, root=root, announce=announce)
    assert prepared.status == FAILED
    assert "hash" in str(prepared.reason).lower()


def test_the_lock_of_a_cpu_build_does_not_pass_for_the_usual_one(root, served, builds, announce):
    path = locks.lock(
        LockRequest("tiny.cpu", PYTHON, WANTED.requirements, source=str(builds)), root=root, announce=announce
    )
    locks.verify(LockRequest("tiny.cpu", PYTHON, WANTED.requirements, source="elsewhere"), root=root)
    path.rename(locks.lock_path("tiny", root))
    with pytest.raises(LockError, match="made for other requirements"):
        locks.verify(LockRequest("tiny", PYTHON, WANTED.requirements), root=root)


def test_only_pytorch_comes_from_the_index(root, served, builds, announce):
    """A package that others own could be replaced there by anybody who may write to the folder."""
    make_wheel(builds, version="1.0", value=666)
    path = locks.lock(
        LockRequest("tiny.cpu", PYTHON, WANTED.requirements, source=str(builds)), root=root, announce=announce
    )
    prepared = environments.prepare(replace(WANTED, cpu_index=str(builds)), root=root, announce=announce)
    assert prepared.status == OK, prepared.reason
    assert "tinyframe==1.0" in path.read_text()
    (module,) = (root / ".nox" / "environments" / "tiny").glob("lib/*/site-packages/tinyframe/__init__.py")
    assert module.read_text() == "value = 1\n"


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("missing", r"is no folder; correct torch_cpu under \[indexes\]"),
        ("empty", "Its PyTorch comes from the place that torch_cpu"),
    ],
)
def test_a_folder_without_the_build_is_an_outcome_with_its_reason(root, served, tmp_path, announce, folder, reason):
    (tmp_path / "empty").mkdir()
    prepared = environments.prepare(replace(WANTED, cpu_index=str(tmp_path / folder)), root=root, announce=announce)
    assert prepared.status == FAILED
    assert re.search(reason, str(prepared.reason))
    assert not locks.lock_path("tiny.cpu", root).exists()


def test_both_locks_are_renewed(root, served, builds, announce):
    wanted = replace(WANTED, cpu_index=str(builds))
    renewed = locks.renew({"tiny": wanted}, [], root=root, announce=announce)
    assert [path.name for path in renewed] == ["tiny.txt", "tiny.cpu.txt"]


def test_the_hash_decides_which_index_serves_a_package():
    assert further_source(None) == ()
    assert further_source("/wheels") == further_source("/wheels", pip=True) == ("--find-links", "/wheels")
    address = "https://example.org/cpu"
    assert further_source(address) == ("--index", address, "--index-strategy", "unsafe-best-match")
    assert further_source(address, pip=True) == ("--extra-index-url", address)
