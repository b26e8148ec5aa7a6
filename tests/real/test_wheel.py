"""Tests benchmatrix as a wheel, outside a checkout: its skeleton, a run and a report, with all state in the project."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from bench.host.setup.installer import find_uv

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install a wheel of this checkout into an environment of its own; its dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    uv = find_uv(ROOT)
    assert uv is not None, "the dev environment has uv"
    run(uv, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT))
    run(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"))
    made = folder / "venv" / "bin" / "python"
    (wheel,) = folder.glob("*.whl")
    run(uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", str(made), str(wheel))
    (site_packages(made) / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return made


@pytest.fixture(scope="module")
def project(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new project, written by the installed package."""
    folder = tmp_path_factory.mktemp("paper")
    run(python, "-m", "bench.host", "init", folder=folder)
    return folder


def run(*command: str | Path, folder: Path = ROOT) -> str:
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "BENCHMATRIX_MATRIX")}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def site_packages(python: Path) -> Path:
    (found,) = (python.parents[1] / "lib").glob("python*/site-packages")
    return found


def installed(python: Path) -> dict[str, int]:
    """Return {file of the package: when it was last changed}, without bytecode."""
    package = site_packages(python) / "bench"
    assert (package / "data").is_dir()
    return {str(path): path.stat().st_mtime_ns for path in package.rglob("*") if path.suffix not in ("", ".pyc")}


def test_the_commands_are_there(python: Path, tmp_path: Path) -> None:
    assert "prepare" in run(python, "-m", "bench.host", "--help", folder=tmp_path)


@pytest.mark.long
def test_nox_prepares_measures_and_reports_in_the_project(python: Path, project: Path) -> None:
    before = installed(python)
    assert "* bench-here" in run(python, "-m", "nox", "-l", folder=project)
    run(python, "-m", "nox", folder=project)
    table = (project / "reports" / "first" / "table.md").read_text()
    assert "row-norms" in table
    assert "elementwise-chain" in table
    (project / "reports" / "first" / "table.md").unlink()
    run(python, "-m", "bench.host", "report", folder=project)
    assert (project / "reports" / "first" / "table.md").read_text() == table
    run(python, "-m", "nox", "-s", "schema", folder=project)
    assert (project / "matrix.schema.json").stat().st_size > 0
    assert installed(python) == before


@pytest.mark.long
def test_a_worker_finds_the_package_and_no_other_installed_one(python: Path, project: Path) -> None:
    folder = project / ".nox" / "code"
    assert [path.name for path in folder.iterdir()] == ["bench"]
    assert (folder / "bench").resolve() == (site_packages(python) / "bench").resolve()


def test_the_locks_and_the_default_study_come_with_it(python: Path, tmp_path: Path) -> None:
    run(python, "-m", "bench.host", "init", "--default-study", folder=tmp_path)
    program = (
        "from pathlib import Path; from bench.host.environments import locks; from bench.host.study import study_file;"
        "jax = study_file.load(Path('matrix.toml')).environments['jax'];"
        "request = locks.LockRequest('jax', jax.python, jax.requirements);"
        "print(locks.present(request, root=Path(), announce=print))"
    )
    found = run(python, "-c", program, folder=tmp_path).strip()
    assert found == str(site_packages(python) / "bench" / "data" / "locks" / "jax.txt")
    assert not (tmp_path / "locks").exists()
    assert (tmp_path / "studies" / "mkl_on_amd.c").exists()


def test_the_dockerfiles_come_with_it(python: Path, tmp_path: Path) -> None:
    program = "from bench.host.containers.recipe import dockerfile_path; print(dockerfile_path('cuda').read_text())"
    assert "ARG BASE=" in run(python, "-c", program, folder=tmp_path)
