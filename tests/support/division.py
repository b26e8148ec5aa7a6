"""Divides the tests among processes: file by file, the slowest files first, what watches a clock last and alone."""

from __future__ import annotations

import fcntl
import functools
import gc
import json
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

#: The groups and files that take longest, in that order, so that none of them is left over when all else is done.
SLOWEST = (
    "adapters-keras-torch-fit-jit",
    "adapters-keras-torch-predict-jit",
    "adapters-lightning-fit-compile",
    "adapters-torch2",
    "study-all_threads",
    "study-small",
    "tests/real/test_default_study.py",
    "tests/host/containers/test_container_runs.py",
    "tests/attacks/test_kills.py",
    "tests/host/measuring/test_bisection_run.py",
    "tests/host/validation/test_validate_command.py",
    "tests/host/commands/test_run_command.py",
    "tests/host/commands/test_interrupted_runs.py",
    "tests/frameworks/test_adapters.py",
    "tests/host/containers/test_engine_stops.py",
    "tests/workloads/test_planted_mistakes.py",
)
ALONE = "alone"
GROUPS = pytest.StashKey[Path]()


def rank(item: pytest.Item) -> int:
    """Return the place of an item's group or file among those of all tests."""
    if item.get_closest_marker(ALONE):
        return len(SLOWEST) + 2
    for name in (group(item), item.nodeid.split("::")[0]):
        if name in SLOWEST:
            return SLOWEST.index(name)
    outside = any(item.get_closest_marker(name) for name in ("real", "engine", "browser"))
    return len(SLOWEST) + (not outside)


def group(item: pytest.Item) -> str | None:
    """Return the name of what runs in one process with the item, where that is not its file."""
    if item.get_closest_marker(ALONE):
        return ALONE
    marker = item.get_closest_marker("xdist_group")
    return str(marker.args[0]) if marker else None


def pytest_configure(config: pytest.Config) -> None:
    """Let each process begin with other files: the first to import one writes its bytecode, which takes long."""
    process = getattr(config, "workerinput", None)
    if process is not None and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        files = sorted(str(path) for folder in config.args for path in Path(folder).rglob("test_*.py"))
        first = len(files) * int(process["workerid"].removeprefix("gw")) // process["workercount"]
        config.args = [*files[first:], *files[:first]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: (rank(item), item.path))


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Start one process more than there are processors: tests wait for workers, for engines and for a browser."""
    found = yield
    return found if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS") else found + 1


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Name the file in which the first process writes the groups: the one that divides the tests sees no markers."""
    config = node.config
    if GROUPS not in config.stash:
        folder = tempfile.TemporaryDirectory()
        config.add_cleanup(folder.cleanup)
        config.stash[GROUPS] = Path(folder.name) / "groups.json"
    node.workerinput["groups"] = str(config.stash[GROUPS])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Keep the tests of a file together, so that what a module prepares is prepared once, and keep their order."""
    from xdist.scheduler import LoadScopeScheduling

    @functools.cache
    def groups() -> dict[str, str]:
        return dict(json.loads(config.stash[GROUPS].read_text(encoding="utf-8")))

    class FilesScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return groups().get(nodeid) or nodeid.split("::")[0]

    config.option.loadscopereorder = False
    return FilesScheduling(config, log)


@pytest.hookimpl(tryfirst=True)  # before xdist reports that the tests are collected
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write the groups; keep the collector of garbage from looking through thousands of tests each time."""
    process = getattr(session.config, "workerinput", {})
    if process.get("workerid") == "gw0":
        groups = {item.nodeid: name for item in session.items if (name := group(item))}
        Path(process["groups"]).write_text(json.dumps(groups), encoding="utf-8")
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test that is marked to be alone wait for those of other processes, and them for it."""
    kind = fcntl.LOCK_EX if item.get_closest_marker(ALONE) else fcntl.LOCK_SH
    assert item.config.inipath is not None
    with item.config.inipath.open() as file:
        fcntl.flock(file, kind)
        return (yield)
