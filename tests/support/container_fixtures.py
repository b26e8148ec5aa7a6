"""Provides a temporary project folder, the machine's engine, and containers that run given lines of Python."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from container_project import BASE, forget, make_project

from bench.host.containers import image
from bench.host.containers.engine import Engine, NoEngine, connect
from bench.host.containers.isolation import VARIABLES, Bounds
from bench.host.containers.labels import checkout
from bench.host.containers.worker import ContainerWorker

#: Set in CI, so that tests fail instead of being skipped when there is no engine.
REQUIRED = "BENCHMATRIX_ENGINE_REQUIRED"
SPEAK = """
import json, os, signal, subprocess, sys, time
def say(**message):
    sys.stdout.write(json.dumps(message) + "\\n"); sys.stdout.flush()
def hear():
    return json.loads(sys.stdin.readline())
"""


@pytest.fixture(autouse=True)
def leftovers_of_the_sdk() -> Iterator[None]:
    """Collect the sockets that the SDK leaves open when an engine stops, so that no later test warns of them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def engine() -> Engine:
    """The engine of this machine, with the base image on it."""
    try:
        found = connect()
        assert image.inspect(found, BASE) is not None, f"there is no {BASE}; make it with docker/make-base"
    except (NoEngine, AssertionError) as reason:
        if os.environ.get(REQUIRED):
            raise
        pytest.skip(str(reason))
    return found


@pytest.fixture
def root(tmp_path: Path, engine: Engine) -> Iterator[Path]:
    """A project folder with the code and the Dockerfiles; its images and containers are removed afterwards."""
    project = make_project(tmp_path / "project")
    yield project
    forget(engine, project)


Start = Callable[..., ContainerWorker]


@pytest.fixture
def start(engine: Engine, root: Path, tmp_path: Path) -> Iterator[Start]:
    """Start a container that runs the given Python lines instead of a worker."""
    started = []

    def begin(
        lines: str, *, memory_bytes: int | None = None, write: tuple[Path, ...] = (), **options
    ) -> ContainerWorker:
        worker = ContainerWorker(
            options.get("engine", lambda: engine),
            options.get("image", BASE),
            ["python3", "-c", SPEAK + lines],
            folder=root,
            variables=VARIABLES,
            bounds=Bounds(
                read=[root / "bench"],
                write=write,
                processors=sorted(os.sched_getaffinity(0)),
                memory_bytes=memory_bytes,
            ),
            log=tmp_path / "logs" / "worker.log",
            checkout=checkout(root),
        )
        started.append(worker)
        return worker

    yield begin
    for worker in started:
        worker.kill()
