"""Tests that the sizes of environments are known before they are built, and are those of the lock that is there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from wheels import PYTHON, Wanted, make_wheel

from bench.host import environments
from bench.host.environments import forecast, locks, sizes, venv
from bench.host.environments.locks import LockRequest
from bench.host.study import study_file

REPOSITORY = Path(__file__).resolve().parents[3]
WANTED = Wanted(requirements=("tinyframe",))


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch):
    monkeypatch.setattr(forecast.facts, "gpus", list)


@pytest.fixture
def lock(root, index, announce):
    index(make_wheel(root), make_wheel(root, version="0.9"))
    return locks.lock(LockRequest("tiny", PYTHON, WANTED.requirements), root=root, announce=announce)


def test_the_default_environments_of_the_default_study_have_sizes_of_their_present_locks():
    """``nox -s lock`` notes what a lock downloads; the disk is measured after a build, and added by hand."""
    study = study_file.load(REPOSITORY / "matrix.toml")
    for name in study.settings.default:
        size = sizes.size_of(locks.find_lock(name, REPOSITORY))
        assert size is not None, f"locks/sizes.json has none of this state of locks/{name}.txt"
        assert size.disk_bytes is None or size.disk_bytes > size.download_bytes > 10**8


def test_a_size_belongs_to_one_state_of_a_lock(lock):
    sizes.note(lock, 2_000_000_000)
    assert str(sizes.size_of(lock)) == "up to 2.0 GB to download, 4.0 to 8.0 GB on the disk"
    lock.write_text(lock.read_text() + "another==1.0 \\\n    --hash=sha256:00\n")
    assert sizes.size_of(lock) is None


def test_a_small_size_is_told_in_megabytes(lock):
    sizes.note(lock, 6_400_000)
    assert str(sizes.size_of(lock)) == "up to 6 MB to download, 13 to 26 MB on the disk"


def test_a_measured_disk_stays_while_a_lock_installs_the_same(lock):
    sizes.note(lock, 7)
    noted = json.loads((lock.parent / sizes.FILE).read_text())
    noted[lock.stem]["disk_bytes"] = 50
    (lock.parent / sizes.FILE).write_text(json.dumps(noted))
    lock.write_text("# made anew\n" + lock.read_text())
    sizes.note(lock, 8)
    assert sizes.size_of(lock) == sizes.Size(8, 50)
    twin = lock.with_stem("same")
    twin.write_text(lock.read_text())
    sizes.note(twin, 8)
    assert sizes.size_of(twin) == sizes.Size(8, 50)
    lock.write_text(lock.read_text() + "another==1.0 \\\n    --hash=sha256:00\n")
    sizes.note(lock, 9)
    assert sizes.size_of(lock) == sizes.Size(9)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"tiny": 7}', '{"tiny": {"content": "x"}}'])
def test_a_damaged_file_of_sizes_gives_none_and_is_written_anew(lock, content, announce):
    noted = lock.parent / sizes.FILE
    noted.write_text(content)
    assert sizes.size_of(lock) is None
    sizes.note(lock, 7)
    assert sizes.size_of(lock) == sizes.Size(7)
    sizes.note(lock, None)
    assert sizes.size_of(lock) is None


def test_the_wheel_that_fits_this_machine_best_is_counted_and_no_other():
    tag = f"cp{PYTHON.replace('.', '')}"
    wheels = [
        {"url": f"https://x/a-1.0-{tag}-{tag}-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "size": 100},
        {"url": f"https://x/a-1.0-{tag}-{tag}-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", "size": 100},
        {"url": f"https://x/a-1.0-{tag}-{tag}-macosx_11_0_arm64.whl", "size": 1000},
        {"url": f"https://x/a-1.0-{tag}-{tag}-macosx_11_0_x86_64.whl", "size": 1000},
        {"url": "https://x/a-1.0-py3-none-any.whl", "size": 7},
        {"url": "https://x/not-a-wheel.whl", "size": 9999},
    ]
    only_elsewhere = [{"url": "https://x/b-1.0-cp27-cp27m-win32.whl", "size": 5}]
    resolved = {"package": [{"name": "a", "wheels": wheels}, {"name": "b", "wheels": only_elsewhere}, {"name": "lock"}]}
    counted = sizes.download_bytes(resolved, PYTHON)
    assert counted in (100, 1000)
    del wheels[0]["size"]
    assert sizes.download_bytes({"package": [{"wheels": wheels[:1]}]}, PYTHON) in (None, 0)
    assert sizes.download_bytes({"package": [{"wheels": wheels[4:]}]}, PYTHON) == 7


def test_making_a_lock_notes_what_its_wheels_take(root, announce, tmp_path, index, monkeypatch):
    folder = tmp_path / "builds"
    folder.mkdir()
    wheel = make_wheel(folder, name="torch", version="2.0.0+cpu")
    index(make_wheel(root))
    path = locks.lock(
        LockRequest("tiny.cpu", PYTHON, ("torch==2.0.0",), source=str(folder)), root=root, announce=announce
    )
    assert sizes.size_of(path) == sizes.Size(wheel.stat().st_size)


def test_what_is_still_to_be_built_is_said_with_its_size(lock, root, announce, said):
    sizes.note(lock, 1_500_000_000)
    first, disk = forecast.forecast([WANTED, replace(WANTED, provider="existing")], root)
    assert first == "To build first: tiny: up to 1.5 GB to download, 3.0 to 6.0 GB on the disk."
    assert disk.startswith("The disk has ")
    assert environments.prepare(WANTED, root=root, announce=announce).status == "ok"
    takes = (
        r"tiny: building with \w+ from locks/tiny\.txt for Python [\d.]+; up to 1\.5 GB to download, .* GB on the disk"
    )
    assert any(re.fullmatch(takes, line) for line in said)
    assert list(forecast.forecast([WANTED], root)) == []
    sizes.note(lock, 10**15)
    assert list(forecast.forecast([replace(WANTED, name="tiny")], root)) == []
    (root / ".nox" / "environments" / "tiny" / "manifest.json").unlink()
    assert list(forecast.forecast([WANTED], root))[1].endswith("GB free. That is not enough.")


def test_an_environment_without_a_lock_is_still_to_be_built(root):
    assert next(forecast.forecast([WANTED], root)) == "To build first: tiny: its size is known when its lock is made."


def test_pytorch_with_cuda_on_a_machine_without_a_gpu_says_how_it_takes_less(root, monkeypatch):
    torch = replace(WANTED, name="tiny", requirements=("torch==2.0.0",))
    locks.write(LockRequest("tiny", PYTHON, torch.requirements), "torch==2.0.0 \\\n    --hash=sha256:00", root=root)
    (line,) = forecast.smaller([torch], root)
    assert "bring CUDA" in line
    assert "Smaller environments" in line
    assert list(forecast.smaller([replace(torch, cpu_index="/wheels")], root)) == []
    # It is refused where it is installed from, with its name.
    damaged = root / "locks" / "tiny.txt"
    damaged.parent.mkdir(exist_ok=True)
    damaged.write_bytes(b"\xba\xff\x00")
    assert list(forecast.smaller([WANTED], root)) == []
    monkeypatch.setattr(forecast.facts, "gpus", lambda: [{"name": "GPU"}])
    assert list(forecast.smaller([torch], root)) == []


def test_a_disk_that_is_too_small_is_named_before_a_build(root):
    assert re.search(
        r"; up to 1000000\.0 GB .* on the disk, which has [\d.]+ GB left$", venv._taken(root, sizes.Size(10**15))
    )
    assert venv._taken(root, None) == ""
