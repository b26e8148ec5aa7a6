"""Divides the tests among processes; sets hypothesis for shared machines; leaves libraries where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from bench.host import project
from bench.host.executors import local
from bench.host.executors.placements import Placements
from bench.host.measuring import run_start

pytest_plugins = ["division"]

# The tests' own arrays are small: a second thread only waits, busily, and takes a processor from other tests. Workers
# get a number of threads from the host, whatever is set here.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Messages name nox as the person called it. What the tests expect of them is written once, whoever called the tests.
os.environ.pop(project.CALLED_AS, None)
# Output that is captured goes to no terminal. But readline, which pytest imports, tells the processes beside of one.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)

# What a failure prints repeats it elsewhere: a machine of CI keeps no database of examples. How long the drawing of
# examples takes there says nothing about them.
settings.register_profile("shared", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


class Unmoved(Placements):
    """Leaves libraries where they are: those of the tests' own interpreter are 400 MB, read anew in every round."""

    def draw(self, *arguments: object, **options: object) -> None:
        pass


@pytest.fixture(scope="session", autouse=True)
def _unmoved_libraries() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "Placements", Unmoved)
        yield


@pytest.fixture(scope="session", autouse=True)
def _runs_that_replace_others() -> Iterator[None]:
    """Let no run give way to the one before because of other programs: those are the tests beside this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_start, "withheld_cells", lambda records: set())
        yield


@pytest.fixture
def no_oom_kills_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the machine's count of kills for lack of memory: it also counts those of tests that run beside this one."""
    for module in ("containers.worker", "workers.forked_worker", "workers.worker_process"):
        monkeypatch.setattr(f"bench.host.{module}.oom_kills", lambda: 0)
