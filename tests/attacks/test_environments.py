"""Attacks on an installed environment: whatever a program or a person changes in it is found before it is measured."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from build_fixtures import *  # noqa: F403
from wheels import MODULE, Wanted, make_wheel, write_lock

from bench.host import environments
from bench.host.environments import bytecode, contents, prepare
from bench.host.executors.job import InstalledEnvironment

pytestmark = pytest.mark.long


@pytest.fixture
def built(locked, root, announce) -> Path:
    """An environment that was just built."""
    assert prepare(locked, root=root, announce=announce).status == "ok"
    return root / ".nox" / "environments" / "tiny"


def module(folder: Path) -> Path:
    return next(folder.glob(f"lib/python*/site-packages/{MODULE}"))


def pyc(folder: Path) -> Path:
    return next(folder.glob("lib/python*/site-packages/tinyframe/__pycache__/__init__.*.pyc"))


def value(folder: Path) -> str:
    """Return what a program in the environment computes with."""
    command = [folder / "bin" / "python", "-B", "-c", "import tinyframe; print(tinyframe.value)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def write_as_root(path: Path, content: bytes) -> None:
    """Write over a read-only file and set its times back, as a careful attacker does."""
    before = path.stat()
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(before.st_mode)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def edit_in_place(folder: Path) -> None:
    write_as_root(module(folder), b"value = 9\n")


def forge_bytecode(folder: Path) -> None:
    compiled = pyc(folder).read_bytes()
    (folder.parent / "forged.py").write_text("value = 9\n")
    program = "import py_compile, sys; py_compile.compile('forged.py', 'forged.pyc', dfile='x', doraise=True)"
    subprocess.run([sys.executable, "-c", program], cwd=folder.parent, check=True)
    forged = compiled[: bytecode.HEADER_BYTES] + (folder.parent / "forged.pyc").read_bytes()[bytecode.HEADER_BYTES :]
    for name in ("forged.py", "forged.pyc"):
        (folder.parent / name).unlink()
    write_as_root(pyc(folder), forged)
    assert value(folder) == "9"


def replace_by_another_file(folder: Path) -> None:
    path = module(folder)
    other = path.with_name("other")
    other.write_text("value = 9\n")
    os.replace(other, path)


def add_start_file(folder: Path) -> None:
    (module(folder).parents[1] / "evil.pth").write_text("import sys; sys.evil = 1\n")


def add_bytecode(folder: Path) -> None:
    shutil.copy(pyc(folder), pyc(folder).with_name("added.cpython-311.pyc"))


def exchange_a_file_and_a_link(folder: Path) -> None:
    path = module(folder)
    target = folder.parent / "elsewhere.py"
    target.write_text("value = 9\n")
    path.unlink()
    path.symlink_to(target)


def replace_interpreter(folder: Path) -> None:
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (folder / "bin" / "python").chmod(0o755)


def edit_settings(folder: Path) -> None:
    config = folder / "pyvenv.cfg"
    write_as_root(config, config.read_bytes().replace(b"false", b"true "))


def edit_list_of_files(folder: Path) -> None:
    edit_in_place(folder)
    (folder / contents.LIST).write_text((folder / contents.LIST).read_text().replace("a", "b"))


CHANGES = (
    edit_in_place,
    forge_bytecode,
    replace_by_another_file,
    add_start_file,
    add_bytecode,
    exchange_a_file_and_a_link,
    replace_interpreter,
    edit_settings,
    edit_list_of_files,
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_environment_is_found_and_built_again(change, built, locked, root, said, announce):
    change(built)
    said.clear()
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert any("building with" in text for text in said)
    assert value(built) == "1"
    assert not list(built.rglob("evil.pth"))


def test_an_edit_never_reaches_what_the_next_build_takes(built, locked, root, announce):
    for path in [*built.rglob("*.py"), *built.rglob("*.pyc")]:
        if not path.is_symlink():
            assert path.stat().st_nlink == 1, f"{path} is linked to a cache"
            write_as_root(path, b"value = 9\n")
    shutil.rmtree(built)
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert value(built) == "1"


def test_an_edit_in_the_installers_cache_is_found_and_fetched_again(built, locked, root, tmp_path, said, announce):
    cached = next((tmp_path / "uv-cache").rglob(MODULE))
    write_as_root(cached, b"value = 9\n")
    shutil.rmtree(built)
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert any("cache was changed" in text and MODULE in text for text in said)
    assert value(built) == "1"


def test_an_edit_of_metadata_in_the_installers_cache_is_undone(built, locked, root, tmp_path, announce):
    cached = next((tmp_path / "uv-cache").rglob("METADATA"))
    write_as_root(cached, cached.read_bytes() + b"Summary: edited\n")
    shutil.rmtree(built)
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert "edited" not in next(built.rglob("tinyframe*/METADATA")).read_text()


def test_a_wheel_that_misstates_its_own_metadata_is_installed_and_that_is_said(root, wheels, said, announce):
    wheel = make_wheel(wheels, misstated="/METADATA")
    wanted = Wanted()
    write_lock(root, wheel, wanted)
    assert prepare(wanted, root=root, announce=announce).status == "ok"
    assert any("the wheel of tinyframe misstates the hash of its own METADATA" in text for text in said)


def test_a_wheel_that_misstates_its_code_is_refused(root, wheels, announce):
    wheel = make_wheel(wheels, misstated="template.py")
    wanted = Wanted()
    write_lock(root, wheel, wanted)
    prepared = prepare(wanted, root=root, announce=announce)
    assert prepared.status == "failed"
    assert "not what the wheels contain" in str(prepared.reason)


@pytest.mark.parametrize("place", ["tinyframe/extra.py", "extra.pth"])
def test_a_file_that_no_wheel_contains_is_never_installed(place, built, locked, root, tmp_path, announce):
    cached = next((tmp_path / "uv-cache").rglob(MODULE)).parents[1]
    (cached / place).write_text("value = 9\n")
    shutil.rmtree(built)
    prepared = prepare(locked, root=root, announce=announce)
    assert not list(built.rglob("extra.*"))
    if prepared.status == "failed":  # it is not known which package to fetch again
        assert "not what the wheels contain" in str(prepared.reason)
        assert "uv cache clean" in str(prepared.reason)


def test_a_setting_of_the_installer_does_not_bring_links_back(locked, root, announce, monkeypatch):
    monkeypatch.setenv("UV_LINK_MODE", "hardlink")
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert module(root / ".nox" / "environments" / "tiny").stat().st_nlink == 1


def test_forged_bytecode_in_the_store_is_not_taken(built, locked, root, tmp_path, announce):
    for stored in (tmp_path / "cache" / "benchmatrix" / "bytecode").glob("*/*"):
        write_as_root(stored, stored.read_bytes()[: bytecode.DIGEST_BYTES] + pyc(built).read_bytes()[:-4] + b"evil")
    shutil.rmtree(built)
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert value(built) == "1"


def test_only_a_full_check_finds_a_change_that_leaves_no_trace(built, locked, root, said, announce, monkeypatch):
    """Somebody who sets the machine's clock back can leave all times as they were."""
    before = contents.measure(built)
    write_as_root(module(built), b"value = 9\n")
    monkeypatch.setattr(contents, "measure", lambda folder: before)
    said.clear()
    prepare(locked, root=root, announce=announce)
    assert said == []
    prepare(locked, root=root, announce=announce, thorough=True)
    assert "not as it was built" in said[0]
    assert "tinyframe/__init__.py" in said[0]


def test_a_copied_or_touched_environment_is_still_the_same(built, locked, root, said, announce):
    moved = built.with_name("moved")
    shutil.copytree(built, moved, symlinks=True)
    shutil.rmtree(built)
    moved.rename(built)
    said.clear()
    assert prepare(locked, root=root, announce=announce).status == "ok"
    assert said == []


def test_files_of_an_environment_are_read_only_and_workers_add_no_bytecode(built, locked, root, announce):
    files = [path for path in built.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in files if path.stat().st_mode & 0o222 and path.name not in contents.ABOUT] == []
    environment = InstalledEnvironment.of(prepare(locked, root=root, announce=announce), locked)
    assert environment.variables["PYTHONDONTWRITEBYTECODE"] == "1"


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_while_it_is_measured_is_found_afterwards(change, built, locked, root, announce):
    prepared = {"tiny": prepare(locked, root=root, announce=announce)}
    assert environments.altered(prepared, root) == {}
    change(built)
    assert list(environments.altered(prepared, root)) == ["tiny"]


def test_a_changed_table_is_prepared_before_it_is_measured(built, locked, root, wheels, announce):
    wanted = replace(locked, requirements=("tinyframe==2.0",))
    write_lock(root, make_wheel(wheels, version="2.0", value=2), wanted)
    prepared = environments.prepare(wanted, root=root, announce=announce)
    assert prepared.manifest["packages"] == {"tinyframe": "2.0"}
    assert value(built) == "2"


def test_a_changed_table_with_the_old_lock_is_refused(built, locked, root, announce):
    prepared = environments.prepare(replace(locked, requirements=("tinyframe==2.0",)), root=root, announce=announce)
    assert prepared.status == "failed"
    assert "nox -s lock -- tiny" in str(prepared.reason)


def test_a_changed_interpreter_is_prepared_before_it_is_measured(built, locked, root, announce):
    prepared = environments.prepare(replace(locked, interpreter="/nowhere/python"), root=root, announce=announce)
    assert (prepared.status, prepared.command) == ("unsupported", ())
    assert environments.prepare(locked, root=root, announce=announce).status == "ok"
