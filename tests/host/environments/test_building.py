"""Tests that environments are built side by side, and what becomes of builds that are killed or interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from processes import PATIENCE_S, gone
from wheels import REPOSITORY, Wanted

from bench.host.environments import building, outcome
from bench.host.environments.building import prepare_all

WANTED = [Wanted(), replace(Wanted(), name="other"), replace(Wanted(), name="third")]


@pytest.fixture
def builds(root, monkeypatch):
    """Replaces what a build does; two are made at once."""

    def replace_by(build):
        def prepare(environment, *, root, announce, registry, thorough):
            made = build(environment.name)
            outcome.save(made, root)
            return made

        monkeypatch.setattr(building, "prepare", prepare)
        monkeypatch.setattr(building, "processor_count", lambda: 2)

    return replace_by


def ready(name: str) -> outcome.Prepared:
    return outcome.ready(name, ("python",), {"process": os.getpid()})


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} is missing"
        time.sleep(0.01)


def test_as_many_are_built_at_once_as_there_are_processors(builds, root, announce):
    def build(name):
        (root / name).touch()
        beside = {"tiny": "other", "other": "tiny"}.get(name)
        if beside:
            assert not (root / "third").exists()
            wait_for(root / beside)
        return ready(name)

    builds(build)
    prepared = prepare_all(WANTED, root=root, announce=announce)
    assert {name: one.status for name, one in prepared.items()} == dict.fromkeys(("tiny", "other", "third"), "ok")
    processes = {one.manifest["process"] for one in prepared.values()}
    assert len(processes - {os.getpid()}) == 3


def test_one_alone_is_built_in_this_process(builds, root, announce):
    builds(ready)
    assert prepare_all(WANTED[:1], root=root, announce=announce)["tiny"].manifest == {"process": os.getpid()}


@pytest.mark.parametrize("before", [False, True], ids=["", "it was built before"])
def test_a_build_that_is_killed_fails_with_its_reason_and_the_others_go_on(builds, root, said, announce, before):
    if before:
        outcome.save(ready("other"), root)

    def build(name):
        if name == "other":
            os.kill(os.getpid(), signal.SIGKILL)
        return ready(name)

    builds(build)
    prepared = prepare_all(WANTED, root=root, announce=announce)
    assert {name: one.status for name, one in prepared.items()} == {"tiny": "ok", "other": "failed", "third": "ok"}
    assert prepared["other"].reason == "the process that built it ended with status -9"
    assert said == ["other: failed: the process that built it ended with status -9"]


PROGRAM = """
import sys; sys.path[:0] = sys.argv[1:3]
import subprocess
from dataclasses import replace
from pathlib import Path
from wheels import Wanted
from bench.host.environments import building
root = Path(sys.argv[3])
def prepare(environment, **how):
    try:
        tool = subprocess.Popen(["sleep", "600"])
        (root / f"{environment.name}.pid").write_text(str(tool.pid))
        tool.wait()
    finally:
        tool.kill()
        tool.wait()
        (root / f"{environment.name}.ended").touch()
building.prepare, building.processor_count = prepare, lambda: 2
try:
    building.prepare_all([Wanted(), replace(Wanted(), name="other")], root=root, announce=print)
except KeyboardInterrupt:
    print("interrupted", *sorted(path.name for path in root.glob("*.ended")))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_ends_the_builds_before_it_is_raised(tmp_path, number):
    paths = (str(REPOSITORY), str(REPOSITORY / "tests" / "support"), str(tmp_path))
    # Whoever starts the tests in the background of a shell has them ignore interrupts.
    command = ["env", "--default-signal=INT,HUP,TERM", sys.executable, "-c", PROGRAM, *paths]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        tools = []
        for name in ("tiny", "other"):
            path = tmp_path / f"{name}.pid"
            wait_for(path)
            deadline = time.monotonic() + PATIENCE_S
            while not path.read_text() and time.monotonic() < deadline:
                time.sleep(0.01)
            tools.append(int(path.read_text()))
        process.send_signal(number)
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert (said.split(), errors) == (["interrupted", "other.ended", "tiny.ended"], "")
    assert gone(*tools)
