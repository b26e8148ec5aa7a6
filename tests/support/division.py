"""Divides the tests among processes: file by file, the slowest files first, what watches a clock last and alone."""

from __future__ import annotations

import fcntl
import gc
from collections.abc import Generator
from typing import Any

import pytest

#: The files that take longest, in that order, so that none of them is left over when all else is done.
SLOWEST = (
    "tests/real/test_default_study.py",
    "tests/host/containers/test_container_runs.py",
    "tests/host/commands/test_commands.py",
    "tests/frameworks/test_adapters.py",
    "tests/host/containers/test_engine_stops.py",
)
ALONE = "alone"


def rank(item: pytest.Item) -> int:
    """Return the place of an item's file among those of all tests."""
    if item.get_closest_marker(ALONE):
        return len(SLOWEST) + 2
    file = item.nodeid.split("::")[0]
    if file in SLOWEST:
        return SLOWEST.index(file)
    outside = any(item.get_closest_marker(name) for name in ("real", "engine", "browser"))
    return len(SLOWEST) + (not outside)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=rank)
    for item in items:
        if item.get_closest_marker(ALONE):
            item.add_marker(pytest.mark.xdist_group(ALONE))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Keep the tests of a file together, so that what a module prepares is prepared once, and keep their order."""
    from xdist.scheduler import LoadGroupScheduling

    class FilesScheduling(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return super()._split_scope(nodeid).split("::")[0]

    config.option.loadscopereorder = False
    return FilesScheduling(config, log)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from looking through thousands of tests each time."""
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
