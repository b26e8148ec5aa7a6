"""Tests that a worker removes its temporary folder, and that a later worker removes those of killed ones."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import time

import pytest

from bench.cell import Cell
from bench.registry import BUILT_IN, Registry
from bench.worker import scratch, session

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture
def shared(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def old(folder):
    folder.mkdir(exist_ok=True)
    (folder / "left.py").write_text("x = 1")
    os.utime(str(folder), (time.time() - 3600, time.time() - 3600))
    return folder


def test_the_folder_is_removed_with_its_files(shared):
    mine = scratch.Scratch()
    mine.take()
    handle, path = tempfile.mkstemp()
    os.close(handle)
    assert os.path.dirname(path) == os.environ["TMPDIR"]
    assert os.path.basename(os.path.dirname(path)).startswith("benchmatrix-worker-{}-".format(os.getpid()))
    mine.leave()
    assert list(shared.iterdir()) == []


def test_a_worker_that_never_took_one_leaves_nothing(shared):
    scratch.Scratch().leave()
    assert list(shared.iterdir()) == []


@pytest.mark.parametrize("caches", [True, False])
def test_compile_caches_in_the_shared_folder_stay_there(shared, monkeypatch, caches):
    """A framework that caches temporary files keeps the folder that the host gave."""
    facts = dataclasses.replace(BUILT_IN.facts("numpy"), caches_temporary_files=caches)
    monkeypatch.setattr(Registry, "facts", lambda *_: facts)
    monkeypatch.setattr(session, "settle_allocator", lambda: None)  # It would settle that of the tests.
    messages = []
    channel = type("Channel", (), {"send": lambda self, **message: messages.append(message)})()
    mine = scratch.Scratch()
    cell = Cell("here", "numpy", "eager", "gemm", "check", "float32", "cpu", 1)
    session.Session(channel, mine, None).do_import(cell.to_json())
    assert (tempfile.gettempdir() == os.environ["TMPDIR"] == str(shared)) == caches
    mine.leave()


def test_a_disk_without_room_for_a_folder_is_not_an_error(shared, monkeypatch):
    def refuse(**_):
        raise OSError("read-only")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    scratch.Scratch().take()
    assert os.environ["TMPDIR"] == str(shared)


def test_only_old_folders_of_workers_that_are_gone_are_swept(shared):
    gone = old(shared / "benchmatrix-worker-1-abc")
    young = shared / "benchmatrix-worker-2-abc"
    young.mkdir()
    foreign = old(shared / "another-program")
    linked = old(shared / "target")
    (shared / "benchmatrix-worker-3-link").symlink_to(linked)
    alive = old(shared / "benchmatrix-worker-4-abc")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, {!r})\nfrom bench.worker import scratch\n"
            "held = scratch.lock({!r}); print(held is not None, flush=True); sys.stdin.read()".format(ROOT, str(alive)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout.readline() == b"True\n"
        scratch.sweep(str(shared))
        assert not gone.exists()
        assert all(folder.exists() for folder in (young, foreign, linked, alive))
        holder.kill()
        holder.wait()
        scratch.sweep(str(shared))
        assert not alive.exists()
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


def test_a_host_knows_the_folders_of_its_workers_by_their_mark(shared, monkeypatch):
    monkeypatch.setenv(scratch.MARK, "0123abcd00000001")
    first, second = scratch.Scratch(), scratch.Scratch()
    first.take()
    folder = shared / "benchmatrix-worker-{}-0123abcd".format(os.getpid())
    assert os.environ["TMPDIR"] == str(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("TMPDIR", str(shared))
    monkeypatch.setattr(tempfile, "tempdir", None)
    # A process that had the same number has left the name.
    second.take()
    assert os.environ["TMPDIR"].startswith(str(shared / "benchmatrix-worker-{}-".format(os.getpid())))
    assert os.environ["TMPDIR"] != str(folder)
    first.leave()
    second.leave()
    assert list(shared.iterdir()) == []


def test_young_folders_are_swept_only_for_the_host_whose_workers_made_them(shared):
    own = shared / "benchmatrix-worker-1-0123abcd"
    others = [shared / name for name in ("benchmatrix-worker-2-4567abcd", "benchmatrix-worker-3-x_y1z2w3")]
    for folder in (own, *others):
        folder.mkdir()
    assert not scratch.sweep(str(shared))
    assert own.exists()
    held = scratch.lock(str(own))
    assert scratch.sweep(str(shared), "0123abcd")
    assert own.exists()
    os.close(held)
    assert not scratch.sweep(str(shared), "0123abcd")
    assert sorted(shared.iterdir()) == others


@pytest.mark.parametrize("end", ["close", "kill"])
def test_a_real_worker_cleans_up_after_itself_unless_it_is_killed(shared, end):
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.worker"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    cell = (
        '{"environment": "numpy", "framework": "numpy", "mode": "eager", "workload": "gemm", "size": "check", '
        '"precision": "float32", "device": "cpu", "threads": 1}'
    )
    process.stdin.write(b'{"do": "import", "cell": ' + cell.encode() + b"}\n")
    process.stdin.flush()
    while b"imported" not in process.stdout.readline():
        pass
    assert len(list(shared.iterdir())) == 1
    if end == "kill":
        process.kill()
    process.stdin.close()
    process.wait(60)
    process.stdout.close()
    assert len(list(shared.iterdir())) == (end == "kill")
