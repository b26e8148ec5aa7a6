"""Runs nox on a copy of the noxfile whose host environment is a script that notes how it is called."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.host.setup import place_of

ROOT = Path(__file__).resolve().parents[2]

#: What nox reads of the study.
STUDY = tuple(
    f"study/{name}.py"
    for name in (
        "location",
        "session_names",
        "session_summaries",
        "suggestion",
        "toml_limits",
        "family_names",
        "version_ranges",
    )
)

MATRIX = """
[study]
default = ["old"]
[environments.old]
[environments.new]
[environments.broken]
"""

# Notes its arguments and the study that a variable names; what nox itself is asked to do goes to the nox of the tests.
# It starts dozens of times in a test, and twice as fast without ``site`` and ``json``.
FAKE = """#!{python} -IS
import os, sys
with open({log!r}, "a") as file:
    named = ["BENCHMATRIX_MATRIX=" + value for value in [os.environ.get("BENCHMATRIX_MATRIX")] if value]
    file.write(repr(sys.argv[1:] + named) + "\\n")
if sys.argv[1:3] == ["-m", "nox"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
if "bench.host.environments" in sys.argv:
    print("/bin/echo")
if "--mistaken" in sys.argv:
    sys.exit(2)
sys.exit(1 if "broken" in sys.argv else 0)
"""


def copy_module(path, folder):
    """Copy a module with its bytecode, which is valid as long as the times of both are those of the originals."""
    for one in (ROOT / path, Path(importlib.util.cache_from_source(str(ROOT / path)))):
        if one.exists():
            shutil.copy2(one, folder / one.relative_to(ROOT))


@pytest.fixture
def project(tmp_path):
    shutil.copy(ROOT / "noxfile.py", tmp_path)
    (tmp_path / "tests" / "support").mkdir(parents=True)
    for module in ("grid.py", "grid_time.py"):
        shutil.copy(ROOT / "tests/support" / module, tmp_path / "tests/support")
    for folder in ("bench", "bench/host", "bench/host/study", "bench/host/commands"):
        (tmp_path / folder / "__pycache__").mkdir(parents=True)
        copy_module(f"{folder}/__init__.py", tmp_path)
    for module in ("sessions.py", "counts.py", "project.py", "refusal.py", "system.py", *STUDY):
        copy_module(f"bench/host/{module}", tmp_path)
    shutil.copytree(ROOT / "bench/host/setup", tmp_path / "bench/host/setup")
    (tmp_path / "locks").mkdir()
    (tmp_path / "matrix.toml").write_text(MATRIX)
    for name in ("host", "dev"):
        (tmp_path / "locks" / f"{name}.txt").write_text(name)
        python = place_of(name, tmp_path) / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(FAKE.format(python=sys.executable, log=str(tmp_path / "log")))
        python.chmod(0o755)
    return tmp_path


def run(project, *arguments, plain=False, **variables):
    """Run the noxfile as a script, or ``plain`` nox on it."""
    start = ["-m", "nox", "-f", "noxfile.py"] if plain else ["noxfile.py"]
    environ = {**os.environ, "NOXSESSION": "", **variables}
    environ.pop("BENCHMATRIX_MATRIX", None) if "BENCHMATRIX_MATRIX" not in variables else None
    command = [sys.executable, *start, *arguments]
    return subprocess.run(command, cwd=project, env=environ, capture_output=True, text=True, check=False)


def calls(project):
    """Return what the host and dev environments were asked to do, without ``-m`` and without nox itself."""
    lines = (project / "log").read_text().splitlines() if (project / "log").exists() else []
    return [arguments[1:] for arguments in map(ast.literal_eval, lines) if arguments[:2] != ["-m", "nox"]]
