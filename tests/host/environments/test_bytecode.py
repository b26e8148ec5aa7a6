from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from wheels import make_script

from bench.host.environments import bytecode, contents, interpreters

TAG = sys.implementation.cache_tag


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What an installation has of Python before it is compiled."""
    package = tmp_path / "env" / "lib" / "package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("value = 1\n")
    (package / "inner" / "__init__.py").write_text("value = 2\n")
    (package / "template.py").write_text("this is {{ no }} Python\n")
    (tmp_path / "env" / "bin").mkdir()
    (tmp_path / "env" / "bin" / "python").symlink_to(sys.executable)
    return tmp_path / "env"


@pytest.fixture
def store(folder: Path) -> Path:
    return bytecode.store_of(folder, interpreters.try_interpreter(sys.executable))


def provide(folder: Path, store: Path | None) -> bytecode.BytecodeCount:
    return bytecode.provide(folder, store, hashes=contents.read(folder, processes=2), cache_tag=TAG, processes=2)


def remove_bytecode(folder: Path) -> None:
    for path in folder.rglob("*.pyc"):
        path.unlink()


def compiled(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder / "lib")) for path in folder.rglob("*.pyc"))


BOTH = [f"package/__pycache__/__init__.{TAG}.pyc", f"package/inner/__pycache__/__init__.{TAG}.pyc"]


def values(folder: Path) -> str:
    """Import the package and return its values; that its bytecode is used is what ``-v`` tells."""
    program = "import package, package.inner; print(package.value, package.inner.value)"
    environ = {"PYTHONPATH": str(folder / "lib")}
    answer = subprocess.run(
        [sys.executable, "-v", "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert f"code object from '{folder}/lib/package/__init__.py'" not in answer.stderr
    assert f"code object from {str(folder / 'lib' / BOTH[0])!r}" in answer.stderr
    return answer.stdout.strip()


def test_everything_that_compiles_is_compiled_whatever_a_variable_says(folder, store):
    assert os.environ["PYTHONDONTWRITEBYTECODE"] == "1"
    assert provide(folder, store) == bytecode.BytecodeCount(copied=0, compiled=2, uncompilable=1)
    assert compiled(folder) == BOTH
    assert values(folder) == "1 2"


def test_the_next_build_copies_what_was_stored_and_compiles_nothing(folder, store, monkeypatch):
    provide(folder, store)
    remove_bytecode(folder)
    monkeypatch.setattr(bytecode, "_compile", None)
    assert provide(folder, store) == bytecode.BytecodeCount(copied=2, compiled=0, uncompilable=1)
    assert values(folder) == "1 2"


def test_a_source_that_differs_is_compiled(folder, store):
    provide(folder, store)
    remove_bytecode(folder)
    source = folder / "lib" / "package" / "__init__.py"
    source.write_text("value = 3\n")
    assert provide(folder, store) == bytecode.BytecodeCount(copied=1, compiled=1, uncompilable=1)
    assert values(folder) == "3 2"
    remove_bytecode(folder)
    assert provide(folder, store).copied == 2


@pytest.mark.parametrize("damage", [lambda content: content[:-1] + b"\xff", lambda content: content[:7], lambda _: b""])
def test_damaged_bytecode_is_never_copied(folder, store, damage):
    provide(folder, store)
    remove_bytecode(folder)
    for stored in store.iterdir():
        stored.write_bytes(damage(stored.read_bytes()))
    assert provide(folder, store) == bytecode.BytecodeCount(copied=0, compiled=2, uncompilable=1)
    assert values(folder) == "1 2"
    remove_bytecode(folder)
    assert provide(folder, store).copied == 2


def test_another_environment_copies_the_bytecode_of_the_sources_that_it_shares(folder, store, tmp_path):
    provide(folder, store)
    other = tmp_path / "other"
    shutil.copytree(folder / "lib", other / "lib", ignore=shutil.ignore_patterns("__pycache__"))
    (other / "bin").mkdir()
    (other / "bin" / "python").symlink_to(sys.executable)
    (other / "lib" / "package" / "more.py").write_text("value = 3\n")
    assert provide(other, store) == bytecode.BytecodeCount(copied=2, compiled=1, uncompilable=1)
    assert values(other) == "1 2"


def test_bytecode_of_the_same_source_at_another_place_is_not_copied(folder, store):
    """It names the place of its source in tracebacks."""
    provide(folder, store)
    remove_bytecode(folder)
    (folder / "lib" / "package" / "inner").rename(folder / "lib" / "package" / "moved")
    assert provide(folder, store) == bytecode.BytecodeCount(copied=1, compiled=1, uncompilable=1)


def test_bytecode_that_came_with_the_package_gives_way(folder, store):
    provide(folder, store)
    stale = folder / "lib" / BOTH[0]
    stale.unlink()
    stale.write_bytes(b"another interpreter's")
    (folder / "lib" / BOTH[1]).unlink()
    assert provide(folder, store).copied == 2
    assert values(folder) == "1 2"


def test_a_store_that_cannot_be_written_is_done_without(folder, tmp_path):
    (tmp_path / "file").write_text("")
    assert provide(folder, tmp_path / "file" / "bytecode" / "entry").compiled == 2


def test_what_a_killed_compiler_left_out_is_compiled_by_the_next_build(folder, store, tmp_path):
    python = folder / "bin" / "python"
    python.unlink()
    make_script(python, "kill -9 $$")
    assert provide(folder, store).compiled == 0
    python.unlink()
    python.symlink_to(sys.executable)
    assert provide(folder, store).compiled == 2


def test_what_no_build_has_used_in_months_goes(folder, store):
    store.mkdir(parents=True)
    old = [store.with_name("an interpreter's"), store / "a source's"]
    old[0].mkdir()
    old[1].write_text("")
    for path in old:
        os.utime(path, (1, 1))
    provide(folder, store)
    stored = sorted(store.iterdir())
    assert not any(path.exists() for path in old)
    assert len(stored) == 3
    # Copying is a use.
    os.utime(stored[0], (1, 1))
    provide(folder, store)
    (folder / "lib" / "package" / "more.py").write_text("value = 3\n")
    provide(folder, store)
    assert set(stored) < set(store.iterdir())


def test_each_interpreter_has_a_store_of_its_own(folder):
    mine = interpreters.try_interpreter(sys.executable)
    other = interpreters.Interpreter(**{**mine.__dict__, "bytecode": "00000000"})
    assert bytecode.store_of(folder, mine) != bytecode.store_of(folder, other)
