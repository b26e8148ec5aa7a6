"""Tests the skeleton of a project: what is written, and that nothing is overwritten."""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from bench.host import project
from bench.host.__main__ import main
from bench.host.study import study_file

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A new project, written by the command."""
    assert main(["init", "paper"], root=tmp_path) == 0
    return tmp_path / "paper"


def test_the_skeleton_is_a_study_a_workload_and_a_noxfile(folder: Path) -> None:
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    workload = {"workloads/row_norms/__init__.py", "workloads/row_norms/numpy.py"}
    assert written == {"noxfile.py", "matrix.toml", ".gitignore", *workload}
    # Every run writes it anew.
    assert "/matrix.schema.json" in (folder / ".gitignore").read_text().splitlines()
    study = tomllib.loads((folder / "matrix.toml").read_text())
    assert study["environments"]["here"]["interpreter"] == sys.executable


def test_a_new_study_has_the_profiles_that_the_documentation_names(folder: Path) -> None:
    profiles = study_file.load(folder / "matrix.toml").profiles
    assert profiles.keys() == study_file.load(ROOT / "matrix.toml").profiles.keys()
    assert profiles["publication"].rounds == 20


def test_a_file_that_exists_is_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "matrix.toml").write_text("mine")
    (folder / "noxfile.py").unlink()
    assert main(["init", str(folder)], root=folder) == 0
    assert (folder / "matrix.toml").read_text() == "mine"
    assert f"kept     {folder}/matrix.toml" in capsys.readouterr().out
    assert (folder / "noxfile.py").exists()


def test_a_disk_that_is_full_leaves_no_half_file_for_the_next_time_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert main(["init", "paper"], root=tmp_path) == 2
    said = capsys.readouterr().err
    assert "/paper/" in said
    assert "No space left on device. Free some space" in said
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert main(["init", "paper"], root=tmp_path) == 0


@pytest.mark.parametrize("name", ["caf\u00e9", "\U0001f9ea lab", 'a "quoted" \\ {name}', "\x7f"])
def test_a_path_with_any_character_is_read_back_from_the_study_and_the_noxfile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Two halves of a character, as JSON writes it, were no text in TOML, and another path in Python."""
    checkout = tmp_path / name
    (checkout / "bench").mkdir(parents=True)
    (checkout / "skeleton").symlink_to(ROOT / "skeleton")
    monkeypatch.setattr(project, "PACKAGE", checkout / "bench")
    monkeypatch.setattr(sys, "executable", str(checkout / "python"))
    assert main(["init", "paper"], root=tmp_path) == 0
    study = tomllib.loads((tmp_path / "paper" / "matrix.toml").read_text(encoding="utf-8"))
    assert study["environments"]["here"]["interpreter"] == sys.executable
    tree = ast.parse((tmp_path / "paper" / "noxfile.py").read_text(encoding="utf-8"))
    assert str(checkout) in [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]


def test_a_path_that_no_text_can_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/caf\udce9/python")
    assert main(["init", "paper"], root=tmp_path) == 2
    assert "is not in UTF-8, so no file can name it. Rename" in capsys.readouterr().err


def test_the_noxfile_of_an_installed_benchmatrix_is_two_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "skeleton").symlink_to(ROOT / "skeleton")
    monkeypatch.setattr(project, "PACKED", tmp_path / "data")
    assert main(["init"], root=tmp_path) == 0
    code = [line for line in (tmp_path / "noxfile.py").read_text().splitlines()[1:] if line]
    assert code == ["from bench.host.sessions import define", "define(__file__)"]


def test_a_checkout_inside_the_project_is_named_relative_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vendor" / "benchmatrix" / "bench").mkdir(parents=True)
    (tmp_path / "vendor" / "benchmatrix" / "skeleton").symlink_to(ROOT / "skeleton")
    monkeypatch.setattr(project, "PACKAGE", tmp_path / "vendor" / "benchmatrix" / "bench")
    assert main(["init"], root=tmp_path) == 0
    assert '.parent / "vendor/benchmatrix"' in (tmp_path / "noxfile.py").read_text()


def test_the_noxfile_of_a_checkout_can_be_read_by_an_old_python(folder: Path) -> None:
    assert ast.parse((folder / "noxfile.py").read_text(), feature_version=(3, 7)).body


def test_a_checkout_gets_no_skeleton(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"], root=ROOT) == 2
    assert "Name another folder" in capsys.readouterr().err
    assert not (ROOT / "workloads").exists()


@pytest.mark.parametrize("options", [[], ["--default-study"]])
def test_the_next_step_names_sessions_that_the_study_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert main(["init", *options], root=tmp_path) == 0
    said = capsys.readouterr().out.partition("Next:")[2]
    _, measuring, listing = (line for line in said.splitlines() if line)
    assert measuring.rindex("   ") == listing.rindex("   "), "what the commands do stands in one column"
    named = re.findall(r"bench-(\S+)", said)
    assert bool(named) is not bool(options)
    assert set(named) <= set(study_file.load(tmp_path / "matrix.toml").environments)


def test_the_default_study_can_be_taken_instead_of_a_small_one(tmp_path: Path) -> None:
    assert main(["init", "--default-study"], root=tmp_path) == 0
    text = (tmp_path / "matrix.toml").read_text()
    assert text.startswith("#:schema ./matrix.schema.json\n")
    assert tomllib.loads(text) == tomllib.loads((ROOT / "matrix.toml").read_text())
    assert not (tmp_path / "workloads").exists()
    # What its environments preload comes with it, in a wheel too.
    preloaded = {
        Path(path) for each in study_file.load(tmp_path / "matrix.toml").environments.values() for path in each.preload
    }
    assert preloaded == {tmp_path / "studies" / "mkl_on_amd.c"}
    assert all(path.read_bytes() == (ROOT / "studies" / path.name).read_bytes() for path in preloaded)
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert {f"studies/{path.name}" for path in preloaded} <= set(packed["force-include"])


def test_a_skeleton_needs_no_library(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", str(ROOT / "bench" / "host" / "__main__.py"), "init"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "noxfile.py -l" in done.stdout
    assert "has no NumPy" in done.stdout


def test_a_new_project_is_measured_and_reported(folder: Path) -> None:
    assert main(["run"], root=folder) == 0
    table = folder / "reports" / "first" / "table.md"
    measured = table.read_text()
    assert "row-norms" in measured
    assert "elementwise-chain" in measured
    table.unlink()
    assert main(["report"], root=folder) == 0
    assert table.read_text() == measured
    assert not list((ROOT / "skeleton").rglob("__pycache__"))


def test_the_schema_of_a_project_names_its_own_workloads(folder: Path) -> None:
    assert main(["schema"], root=folder) == 0
    schema = json.loads((folder / "matrix.schema.json").read_text())
    assert {"row-norms", "gemm"} <= set(schema["properties"]["workloads"]["properties"])


def test_the_noxfile_of_a_new_project_lists_its_environments(folder: Path) -> None:
    command = [sys.executable, "-m", "nox", "-f", str(folder / "noxfile.py"), "-l"]
    listed = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True).stdout
    assert "* bench-here" in listed
    assert "- report" in listed
    assert "- tests" not in listed


@pytest.mark.real
def test_the_noxfile_of_a_new_project_brings_its_own_nox(folder: Path) -> None:
    command = [sys.executable, str(folder / "noxfile.py"), "-s", "bench-here", "--", "--dry-run"]
    done = subprocess.run(command, cwd=folder.parent, capture_output=True, text=True, check=True)
    assert "row-norms" in done.stdout
    assert not (folder / "reports").exists()
