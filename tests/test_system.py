"""Tests what is said on other systems, and that a study is measured where Linux's interfaces are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import small_project

from bench.host import system
from bench.host.storage import journal, manifest

ROOT = Path(__file__).resolve().parents[1]


def test_linux_needs_no_notice():
    assert system.notice("linux") is None
    system.verify("linux")


@pytest.mark.parametrize("platform", ["darwin", "win32", "freebsd14", "cygwin"])
def test_another_system_gets_one_line_with_the_way_to_linux(platform):
    said = system.notice(platform)
    assert said is not None
    assert "\n" not in said
    assert said.endswith(system.CONTAINER)


def test_where_nothing_works_the_first_command_ends_with_the_notice(capsys):
    with pytest.raises(SystemExit) as ended:
        system.verify("win32")
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"{system.notice('win32')}\n"
    system.verify("darwin")


@pytest.mark.parametrize("start", [["noxfile.py", "-l"], ["-m", "nox", "-l"], ["-m", "bench.host", "runs"]])
def test_windows_is_told_before_anything_that_it_lacks_is_imported(tmp_path, start):
    """What Windows lacks is blocked here, so that an import of it would end with a traceback."""
    blocked = "import sys\nsys.platform = 'win32'\nfor name in ('fcntl', 'resource'):\n    sys.modules[name] = None\n"
    (tmp_path / "sitecustomize.py").write_text(blocked)
    if "nox" in start:
        # nox itself runs on Windows; here its modules would look for what Windows has.
        (tmp_path / "sitecustomize.py").write_text(blocked.replace("sys.platform", "import nox._cli\nsys.platform", 1))
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, *start], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == system.notice("win32")
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_a_study_is_measured_without_the_interfaces_of_linux_and_the_report_says_so(tmp_path):
    fake = tmp_path / "fake"
    fake.mkdir()
    shutil.copy(ROOT / "tests" / "support" / "fake_macos.py", fake / "sitecustomize.py")
    # A worker gets no PYTHONPATH of the host.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={fake}:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    folder = small_project.write(tmp_path)
    study = folder / "matrix.toml"
    study.write_text(study.read_text().replace(sys.executable, str(python)).replace("peaks = false", "peaks = true"))
    environ = {**os.environ, "PYTHONPATH": f"{fake}:{ROOT}"}
    command = [sys.executable, "-m", "bench.host", "run"]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.splitlines()[0] == system.notice("darwin")
    records = journal.read(folder / "reports" / "small")
    assert {(record.status, record.reason) for record in records} == {("ok", None)}
    assert not any(any(record.sample_wait_ns) for record in records), "waiting times are unknown"
    described = manifest.read(folder / "reports" / "small")
    assert described is not None
    assert described.machine["system"] == "Darwin 24.0"
    assert described.profile.workers == "own"
    text = (folder / "reports" / "small" / "table.md").read_text()
    assert "Darwin 24.0 does not bind processes to processors" in text
