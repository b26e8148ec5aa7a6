"""Tests that the examples' commands are accepted by the program, and that those of the nightly series do their work."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from small_project import write

from bench.host.__main__ import parser

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.yml"))
#: Plays nox: a session is a command of the host, and those of environments are one run.
NOXFILE = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from bench.host.__main__ import main
sessions, options = sys.argv[2 : sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1 :]
if sessions[0].startswith("bench-"):
    options = [*(text for name in sessions for text in ("--environment", name.removeprefix("bench-"))), *options]
    sessions = ["run"]
if sessions == ["lock"]:
    Path("locks").mkdir(exist_ok=True)
    Path("locks", "jax.txt").write_text("made every night")
    sys.exit()
sys.exit(main([sessions[0], *options], root=Path.cwd()))
"""


def steps(path):
    (job,) = yaml.safe_load(path.read_text())["jobs"].values()
    return job["steps"]


def commands(path):
    return [step["run"] for step in steps(path) if "run" in step]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_options_of_every_example_are_accepted(path):
    called = [shlex.split(text) for text in commands(path) if text.startswith("python3 noxfile.py")]
    assert called
    for words in called:
        session = words[words.index("-s") + 1]
        command = "run" if session.startswith("bench-") else session
        given = [command, *words[words.index("--") + 1 :]]
        assert parser(given).parse_args(given).command == command


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_may_run_at_night_and_by_hand(path):
    # YAML 1.1 reads the key "on" as a truth value.
    assert set(yaml.safe_load(path.read_text())[True]) == {"schedule", "workflow_dispatch"}


@pytest.fixture
def checkout(tmp_path):
    """Return a repository with a small study, as a runner checks it out, with a place to push to."""
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "origin.git"], check=True)
    subprocess.run(["git", "clone", "-q", tmp_path / "origin.git", tmp_path / "checkout"], check=True)
    folder = write(tmp_path / "checkout", rounds=2)
    text = (folder / "matrix.toml").read_text().replace('name = "small"', 'name = "default"')
    (folder / "matrix.toml").write_text(text.replace("environments.here", "environments.jax"))
    (folder / "noxfile.py").write_text(NOXFILE.format(root=str(ROOT)))
    (folder / ".gitignore").write_text("/reports/\n/.nox/\n")
    shim = tmp_path / "bin" / "python3"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.long
def test_the_commands_of_the_nightly_series_add_a_run_and_push_it(checkout):
    environ = {
        **os.environ,
        "PATH": f"{checkout.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(checkout),
    }
    text = (checkout / "matrix.toml").read_text()
    assert 'baseline = "here:eager"' in text
    (checkout / "matrix.toml").write_text(text.replace("here", "jax"))
    for _night in range(2):
        for command in commands(ROOT / "examples" / "github-actions" / "nightly-series.yml"):
            # The small study has one environment, so there are no ratios, and one profile.
            for left_out in ("bench-torch2 ", "--profile standard ", "--relative "):
                command = command.replace(left_out, "")
            done = subprocess.run(
                ["bash", "-e", "-c", command], cwd=checkout, env=environ, capture_output=True, text=True, timeout=600
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert "--fail-if" not in command or "Not judged yet: " in done.stderr
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"],
        cwd=checkout.parent / "origin.git",
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len([name for name in listed if name.startswith("series/default/")]) == 2
    assert "locks/jax.txt" in listed
