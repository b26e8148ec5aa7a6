"""A small world without a network: an index that is a folder, an empty home, a project folder that has locks only."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from wheels import REPOSITORY, Wanted, make_wheel, write_lock

from bench.host.environments import interpreters, locks
from bench.host.setup.installer import find_uv


@pytest.fixture(scope="session")
def uv() -> str:
    found = find_uv(REPOSITORY)
    assert found is not None, "the dev environment has uv"
    return found


@pytest.fixture(autouse=True)
def quiet_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No index but a folder, no cache and no home but empty ones."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    for tool in ("UV", "PIP"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv("PIP_RETRIES", "1")  # none at all, and pip would not say what it cannot reach
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    return wheels


@pytest.fixture
def wheels(quiet_world: Path) -> Path:
    return quiet_world


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Serve wheels of ``tinyframe`` as a package index does, on this machine alone."""
    pages = tmp_path / "index" / "tinyframe"
    pages.mkdir(parents=True)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *arguments: object) -> None:
            pass

    def publish(*wheels: Path) -> None:
        links = []
        for wheel in wheels:
            content = wheel.read_bytes()
            (pages / wheel.name).write_bytes(content)
            links.append(f'<a href="{wheel.name}#sha256={hashlib.sha256(content).hexdigest()}">{wheel.name}</a>')
        (pages / "index.html").write_text(f"<!DOCTYPE html><html><body>{''.join(links)}</body></html>")

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(pages.parent))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        for tool, variable in (("UV", "UV_DEFAULT_INDEX"), ("PIP", "PIP_INDEX_URL")):
            monkeypatch.delenv(f"{tool}_NO_INDEX")
            monkeypatch.setenv(variable, f"http://127.0.0.1:{server.server_port}/")
        yield publish
        server.shutdown()
        thread.join()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project folder with an empty ``locks``."""
    (tmp_path / "project" / "locks").mkdir(parents=True)
    return tmp_path / "project"


@pytest.fixture
def said() -> list[str]:
    """What was announced."""
    return []


@pytest.fixture
def announce(said: list[str]) -> Callable[[str], None]:
    return said.append


@pytest.fixture
def locked(root: Path, wheels: Path) -> Wanted:
    """An environment with a wheel and a lock that fit."""
    wanted = Wanted()
    write_lock(root, make_wheel(wheels), wanted)
    return wanted


@pytest.fixture
def oldest(root: Path) -> str:
    """The oldest Python at hand that the worker ring supports; this one where there is no older."""
    python, _requirements = locks.own(REPOSITORY)["worker"]
    try:
        return interpreters.find(python, uv=None, root=root, announce=print).path
    except interpreters.NoInterpreter:
        return sys.executable
