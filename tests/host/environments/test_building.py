"""Tests that environments are built side by side, and what becomes of builds that are killed or interrupted."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from processes import PATIENCE_S, gone
from wheels import REPOSITORY, Wanted

from bench.host.environments import building, outcome
from bench.host.environments.building import prepare_all

# From Python 3.15 on, a thread of pytest-xdist counts; the host that forks has none (bench.host prepare, two builds).
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

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
        monkeypatch.setattr(building, "available", lambda: {0, 1})

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
            wait_for(root / beside)
            time.sleep(0.2)
            assert not (root / "third").exists()
            (root / f"{name}.seen").touch()
            wait_for(root / f"{beside}.seen")
        return ready(name)

    builds(build)
    prepared = prepare_all(WANTED, root=root, announce=announce)
    assert {name: one.status for name, one in prepared.items()} == dict.fromkeys(("tiny", "other", "third"), "ok")
    processes = {one.manifest["process"] for one in prepared.values()}
    assert len(processes - {os.getpid()}) == 3


def test_one_alone_is_built_in_this_process(builds, root, announce):
    builds(ready)
    assert prepare_all(WANTED[:1], root=root, announce=announce)["tiny"].manifest == {"process": os.getpid()}


@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("before", [False, True], ids=["", "it was built before"])
def test_a_build_that_is_killed_fails_with_its_reason_and_the_others_go_on(
    builds, root, said, announce, before, number, status
):
    if before:
        outcome.save(ready("other"), root)

    def build(name):
        if name == "other":
            tool = subprocess.Popen(["sleep", "600"])
            (root / "tool.pid").write_text(str(tool.pid))
            os.kill(os.getpid(), number)
        return ready(name)

    builds(build)
    prepared = prepare_all(WANTED, root=root, announce=announce)
    assert {name: one.status for name, one in prepared.items()} == {"tiny": "ok", "other": "failed", "third": "ok"}
    assert prepared["other"].reason == f"the process that built it ended with status {status}"
    assert said == [f"other: failed: {prepared['other'].reason}"]
    assert gone(int((root / "tool.pid").read_text()))


def test_what_no_outcome_tells_is_met_again_in_this_process(builds, root, announce):
    def build(name):
        if name == "other":
            raise OSError(errno.ENOSPC, "No space left on device", str(root))
        return ready(name)

    builds(build)
    with pytest.raises(OSError, match="No space left"):
        prepare_all(WANTED, root=root, announce=announce)


def test_an_outcome_of_an_earlier_version_can_be_read(root):
    outcome.save(ready("tiny"), root)
    path = outcome.outcome_path("tiny", root)
    path.write_text(json.dumps({**json.loads(path.read_text()), "made_for": "what it no longer says"}))
    assert outcome.load_outcome("tiny", root=root) == ready("tiny")


PROGRAM = """
import sys; sys.path[:0] = sys.argv[1:3]
import subprocess, time
from dataclasses import replace
from pathlib import Path
from wheels import Wanted
from bench.host.environments import building
root = Path(sys.argv[3])
building.ENDING_S = float(sys.argv[4])
if len(sys.argv) > 5:
    import os, signal
    from multiprocessing.context import ForkProcess
    start = ForkProcess.start
    def interrupted(process):
        start(process)
        number = int(sys.argv[5])
        if number == signal.SIGINT:
            # A terminal sends it to the build, too, which is still in this group.
            os.kill(process.pid, number)
        os.kill(os.getpid(), number)
    ForkProcess.start = interrupted
def prepare(environment, **how):
    tool = None
    try:
        # An installer that runs compilers.
        path = str(root / f"{environment.name}.pid")
        tool = subprocess.Popen(["sh", "-c", 'sleep 600 & echo $! > "$0"; wait', path])
        tool.wait()
    finally:
        if tool is not None:
            tool.kill()
            tool.wait()
        while (root / "held").exists():
            time.sleep(0.01)
        (root / f"{environment.name}.ended").touch()
building.prepare, building.available = prepare, lambda: {0, 1}
try:
    building.prepare_all([Wanted(), replace(Wanted(), name="other")], root=root, announce=print)
except KeyboardInterrupt:
    print("interrupted", *sorted(path.name for path in root.glob("*.ended")))
"""


def tool_of(path: Path) -> int:
    """Wait for the number of a tool's process."""
    wait_for(path)
    deadline = time.monotonic() + PATIENCE_S
    while not path.read_text() and time.monotonic() < deadline:
        time.sleep(0.01)
    return int(path.read_text())


@pytest.fixture
def building_two(tmp_path):
    """Starts PROGRAM, and yields it and the processes that its installers started, when both builds have."""

    @contextlib.contextmanager
    def started(*signals: str, ending_s: float = PATIENCE_S) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
        paths = (str(REPOSITORY), str(REPOSITORY / "tests" / "support"), str(tmp_path))
        command = ["env", *signals, sys.executable, "-c", PROGRAM, *paths, str(ending_s)]
        how: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        with subprocess.Popen(command, **how) as process:
            yield process, [tool_of(tmp_path / f"{name}.pid") for name in ("tiny", "other")]

    return started


#: Whoever starts the tests in the background of a shell has them ignore interrupts.
USUAL = "--default-signal=INT,HUP,TERM"


@pytest.mark.parametrize(
    ("number", "times"),
    [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 2), (signal.SIGHUP, 1), (signal.SIGKILL, 1)],
)
def test_builds_end_with_what_waits_for_them_and_an_interruption_is_raised_when_they_have(
    building_two, tmp_path, number, times
):
    # Until all signals are sent, no build ends.
    held = tmp_path / "held"
    held.touch()
    with building_two(USUAL) as (process, tools):
        for _ in range(times):
            # As a terminal does: what is in the background gets none.
            os.killpg(process.pid, number)
            time.sleep(0.1)
        held.unlink()
        said, errors = process.communicate(timeout=PATIENCE_S)
    if number == signal.SIGKILL:
        assert errors == ""
        for name in ("tiny", "other"):
            wait_for(tmp_path / f"{name}.ended")
    else:
        assert (said.split(), errors) == (["interrupted", "other.ended", "tiny.ended"], "")
    assert gone(*tools)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_build_ends_where_the_interruption_comes_while_it_is_started(tmp_path, number):
    paths = (str(REPOSITORY), str(REPOSITORY / "tests" / "support"), str(tmp_path))
    command = ["env", USUAL, sys.executable, "-c", PROGRAM, *paths, str(PATIENCE_S), str(int(number))]
    # It waits for builds and installers, too, which hold the pipes.
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.stdout.split()[:1], done.stderr) == (["interrupted"], "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_builds_that_ignore_the_request_to_end_are_killed(building_two, number):
    with building_two("--default-signal=INT,HUP", "--ignore-signal=TERM", ending_s=0.5) as (process, tools):
        os.killpg(process.pid, number)
        said, errors = process.communicate(timeout=PATIENCE_S)
    assert (said.split(), errors) == (["interrupted"] * (number == signal.SIGINT), "")
    assert gone(*tools)


def test_a_stopped_build_does_not_keep_an_interrupted_command(building_two):
    with building_two(USUAL, ending_s=0.5) as (process, tools):
        os.killpg(os.getpgid(tools[0]), signal.SIGSTOP)
        os.killpg(process.pid, signal.SIGINT)
        said, _errors = process.communicate(timeout=PATIENCE_S)
    assert said.startswith("interrupted")
    assert "tiny.ended" not in said
    assert gone(*tools)


def test_a_system_that_lets_no_ended_build_be_killed_builds_all_the_same(builds, root, announce, monkeypatch):
    monkeypatch.setattr(os, "killpg", Mock(side_effect=PermissionError))
    builds(ready)
    assert {one.status for one in prepare_all(WANTED, root=root, announce=announce).values()} == {"ok"}
