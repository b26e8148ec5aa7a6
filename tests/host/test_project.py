"""Tests where things lie: what comes with the package, and the folder in which workers start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.host import project
from bench.host.__main__ import main
from bench.host.commands import announce


def test_the_data_of_a_checkout_lie_beside_the_package() -> None:
    assert not project.is_installed()
    for name in ("matrix.toml", "locks/host.txt", "docker/cpu.Dockerfile"):
        assert project.data(name).is_file()


def test_the_data_of_a_wheel_lie_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "PACKED", tmp_path)
    assert project.is_installed()
    assert project.data("locks/host.txt") == tmp_path / "locks" / "host.txt"
    assert not project.is_checkout(project.PACKAGE.parent)


def test_a_worker_can_import_bench_and_nothing_else_from_its_folder(tmp_path: Path) -> None:
    folder = project.code_folder(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["bench"]
    program = "import bench.record, sys; print(bench.record.__file__); import tests"
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert Path(done.stdout.strip()).resolve() == project.PACKAGE / "record.py"
    assert "No module named 'tests'" in done.stderr


def test_the_folder_follows_a_package_that_moved(tmp_path: Path) -> None:
    link = tmp_path / ".nox" / "code" / "bench"
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "an earlier one")
    project.code_folder(tmp_path)
    assert link.resolve() == project.PACKAGE
    assert project.code_folder(tmp_path) == link.parent


@pytest.mark.parametrize(
    ("called", "said"), [(None, "nox -s runs"), ("python3 noxfile.py", "python3 noxfile.py -s runs")]
)
def test_messages_call_nox_as_the_person_did(
    called: str | None, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    if called is not None:
        monkeypatch.setenv(project.CALLED_AS, called)
    (tmp_path / "matrix.toml").write_bytes(project.data("matrix.toml").read_bytes())
    assert main(["show", "nowhere"], tmp_path) == 2
    assert said in capsys.readouterr().err
    announce("They are listed by: nox -s runs")
    assert said in capsys.readouterr().out
