from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from wheels import REPOSITORY, Wanted, make_script, make_wheel, write_lock

from bench.host import setup
from bench.host.setup import SetupError, ensure, installer, place_of


@pytest.fixture
def host(root, wheels, monkeypatch):
    """A project whose host environment needs a tiny wheel only."""
    monkeypatch.setattr(setup, "IMPORTED", {"host": "tinyframe"})
    write_lock(root, make_wheel(wheels), Wanted(name="host"))
    return root


def value_of(python: Path) -> str:
    command = [python, "-c", "import tinyframe; print(tinyframe.value)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_it_imports_with_the_standard_library_alone():
    program = f"import sys; sys.path.append({str(REPOSITORY)!r}); import bench.host.setup; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    loaded = {name for name in answer.stdout.split() if not name.startswith("bench")}
    assert {name.split(".")[0] for name in loaded} - sys.stdlib_module_names == {"__main__"} - sys.stdlib_module_names
    program = program.replace("bench.host.setup", "bench.host.environments")
    answer = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=False)
    assert "No module named 'packaging'" in answer.stderr


@pytest.mark.long
@pytest.mark.parametrize("uv", ["works", "is missing", "fails"])
def test_the_environment_is_made_with_whatever_works(host, uv, tmp_path, said, announce, monkeypatch):
    broken = make_script(tmp_path / "uv", "echo 'error: invalid peer certificate' >&2; exit 2")
    if uv != "works":
        monkeypatch.setattr(setup, "find_uv", lambda root: str(broken) if uv == "fails" else None)
    python = ensure("host", host, announce=announce)
    assert value_of(python) == "1"
    assert any("invalid peer certificate" in text for text in said) == (uv == "fails")
    assert [path.name for path in (host / ".nox" / "host").iterdir() if path.is_dir()] == [place_of("host", host).name]


def test_uv_is_fetched_first_when_it_is_missing(host, monkeypatch, announce):
    ran = []

    def sync(site, uv):
        ran.append(uv)
        (site.folder / "bin" / "python").unlink()
        make_script(site.folder / "bin" / "python", "exit 0")

    monkeypatch.setattr(setup, "find_uv", lambda root: None)
    monkeypatch.setattr(installer, "_sync", sync)
    assert ensure("host", host, announce=announce).exists()
    assert [uv.rpartition("/")[2] for uv in ran] == ["uv"]


def test_one_entry_of_a_lock_is_taken_with_its_hashes():
    lock = "nox==1 \\\n    --hash=a\nuv==2 ; x \\\n    --hash=b \\\n    --hash=c\nvirtualenv==3 \\\n    --hash=d\n"
    assert installer.entry_of("uv", lock) == "uv==2 ; x \\\n    --hash=b \\\n    --hash=c\n"


def test_the_same_lock_makes_nothing_again(host, said, announce):
    python = ensure("host", host, announce=announce)
    said.clear()
    assert ensure("host", host, announce=announce) == python
    assert said == []


def test_a_changed_lock_makes_another_and_keeps_the_last(host, wheels, announce):
    made = []
    for number in range(1, 4):
        write_lock(host, make_wheel(wheels, version=f"{number}.0", value=number), Wanted(name="host"))
        made.append(ensure("host", host, announce=announce))
        os.utime(made[-1].parents[2], (number, number))
    assert [path.exists() for path in made] == [False, True, True]


def test_a_base_interpreter_that_is_gone_is_noticed(host, announce):
    python = ensure("host", host, announce=announce)
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert value_of(ensure("host", host, announce=announce)) == "1"


def test_neither_uv_nor_pip_is_explained(host, tmp_path, announce, monkeypatch):
    empty = make_script(tmp_path / "empty", "echo 'No module named ensurepip' >&2; exit 1")
    makes_it = f'for folder; do :; done; mkdir -p "$folder/bin"; cp {empty} "$folder/bin/python"'
    base = make_script(tmp_path / "python3", makes_it)
    monkeypatch.setattr(setup, "find_uv", lambda root: None)
    monkeypatch.setattr(setup, "_base", lambda: str(base))
    monkeypatch.setattr(installer, "answers", lambda command: False)
    with pytest.raises(SetupError, match=r"No module named ensurepip, and neither uv nor pip .*\n.*\n.*python3-venv"):
        ensure("host", host, announce=announce)
    assert not [path for path in (host / ".nox" / "host").iterdir() if path.is_dir()]


def test_a_missing_lock_is_a_clear_error(root):
    with pytest.raises(SetupError, match=r"git checkout -- locks/host\.txt"):
        ensure("host", root)


def test_what_cannot_be_installed_is_a_clear_error(host, wheels, announce):
    for path in wheels.iterdir():
        path.unlink()
    with pytest.raises(SetupError, match=r"the host environment could not be made: .*tinyframe"):
        ensure("host", host, announce=announce)


def test_an_environment_that_does_not_import_is_not_kept(host, announce, monkeypatch):
    monkeypatch.setattr(setup, "IMPORTED", {"host": "nothing_of_this_name"})
    with pytest.raises(SetupError, match="nothing_of_this_name"):
        ensure("host", host, announce=announce)
    assert not place_of("host", host).exists()


@pytest.mark.long
@pytest.mark.real
def test_what_is_imported_to_compile_it_is_there():
    names = setup.IMPORTED["dev"] + ", " + setup.IMPORTED["host"]
    code = f"import {names}; print('imported')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "imported\n"
