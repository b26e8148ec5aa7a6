"""Knows where a container engine answers, Docker's or Podman's, and what it can do."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
import docker.context
import docker.errors
import docker.utils

#: An engine that is there answers at once; building and stopping have time-outs of their own.
TRIAL_S = 10
ANSWER_S = 120
#: An engine that is updated is back within this time.
RESTART_S = 20.0
POLL_S = 0.2

#: Whatever an engine, or the way to it, does wrong; the errors of the connection are all OSError.
ENGINE_ERRORS = (docker.errors.DockerException, OSError)

#: The SDK wraps what the operating system says in several layers of its own.
PLAIN_WORDS = {
    "FileNotFoundError": "there is nothing",
    "ConnectionRefusedError": "nobody answers there",
    "PermissionError": "this user may not use it",
}
#: Limits: what Docker's information calls them, and the kernel's controllers.
LIMITS = {
    "memory": ("MemoryLimit", "memory"),
    "processes": ("PidsLimit", "pids"),
    "processors": ("CPUSet", "cpuset"),
}
REMEDY = (
    "start one (systemctl start docker, or systemctl --user start podman.socket), or say where one is: "
    "DOCKER_HOST=unix:///path/to.sock, or docker context use NAME"
)


class NoEngine(Exception):
    """No container engine answers; the message says what was tried and what to do."""


@dataclass(frozen=True)
class Engine:
    """An engine that has answered."""

    address: str
    #: ``docker`` or ``podman``.
    product: str
    version: str
    rootless: bool
    #: The limits that the engine can enforce: without delegated control groups a rootless one lacks some.
    limits: tuple[str, ...]
    api: docker.APIClient

    def describe(self) -> dict[str, Any]:
        """Describe the engine for the record."""
        described = {name: getattr(self, name) for name in ("product", "version", "rootless")}
        return {**described, "limits": list(self.limits)}


@dataclass(frozen=True)
class _Place:
    """Where an engine may be."""

    address: str
    origin: str
    tls: Any = None


def attach(engine: Engine, container: str) -> Any:
    """Open the pipe to a container's standard streams; before it starts, so that nothing is missed."""
    return engine.api.attach_socket(container, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})


def connect(environ: Mapping[str, str] = os.environ) -> Engine:
    """Return the engine that this person means: DOCKER_HOST, the chosen context, or the first usual socket.

    Raises NoEngine.
    """
    tried = []
    for place in _places(environ):
        try:
            return _try(place)
        except ENGINE_ERRORS as error:
            tried.append(f"{place.address} ({place.origin}): {reason_of(error)}")
    listed = "; ".join(tried) or "there is no socket in the usual places"
    raise NoEngine(f"no container engine answers: {listed}. To use containers, {REMEDY}")


class Line:
    """The line to one engine for as long as a process lives; an engine that is restarted is found again."""

    def __init__(self, find: Callable[[], Engine] = connect, patience_s: float = RESTART_S) -> None:
        self._find = find
        self._patience_s = patience_s
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """Return the engine that answers, waiting once for one that has been there and is gone. Raises NoEngine."""
        if self._engine is not None and answers(self._engine):
            return self._engine
        deadline = time.monotonic() + (self._patience_s if self._engine is not None else 0.0)
        while True:
            try:
                self._engine = self._find()
                return self._engine
            except NoEngine:
                if time.monotonic() >= deadline:
                    # Whoever asks next shall not wait again.
                    self._patience_s = 0.0
                    raise
                time.sleep(POLL_S)


def reason_of(error: BaseException) -> str:
    """Return what an engine says is wrong, in one line."""
    said = getattr(error, "explanation", None) or str(error)
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    plain = next((words for name, words in PLAIN_WORDS.items() if name in text or name == type(error).__name__), None)
    return plain or " ".join(text.split())


def answers(engine: Engine) -> bool:
    """Tell whether an engine that has answered still does."""
    try:
        _knock(engine.address)
        return bool(engine.api.ping())
    except ENGINE_ERRORS:
        return False


def _knock(address: str) -> None:
    """Raise OSError where nobody listens at a socket of this machine; the SDK would leave its own end open."""
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as tried:
            tried.settimeout(TRIAL_S)
            tried.connect(address.removeprefix("unix://"))


def _places(environ: Mapping[str, str]) -> Iterator[_Place]:
    if environ.get("DOCKER_HOST"):
        given = docker.utils.kwargs_from_env(environment=dict(environ))
        yield _Place(given["base_url"], "DOCKER_HOST", given.get("tls"))
        return
    name = environ.get("DOCKER_CONTEXT") or _current_context(environ)
    if name and name != "default":
        yield _of_context(name)
        return
    runtime = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    usual = ["/var/run/docker.sock", f"{runtime}/docker.sock", f"{runtime}/podman/podman.sock"]
    for path in [*usual, "/run/podman/podman.sock"]:
        if Path(path).exists():
            yield _Place(f"unix://{path}", "usual place")


def _current_context(environ: Mapping[str, str]) -> str | None:
    folder = Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or "/").joinpath(".docker"))
    try:
        name = json.loads((folder / "config.json").read_bytes()).get("currentContext")
    except (OSError, ValueError, AttributeError):
        return None
    return name if isinstance(name, str) else None


def _of_context(name: str) -> _Place:
    origin = f"context {name!r}"
    try:
        context = docker.context.ContextAPI.get_context(name)
    except Exception as error:  # The library raises plain exceptions for a context that is half there.
        raise NoEngine(f"the docker {origin} cannot be read: {error}. List them with: docker context ls") from None
    if context is None or not context.Host:
        raise NoEngine(f"the docker {origin} does not exist. List them with: docker context ls")
    return _Place(context.Host, origin, context.TLSConfig)


def _try(place: _Place) -> Engine:
    _knock(place.address)
    trial = docker.APIClient(base_url=place.address, tls=place.tls or False, version="auto", timeout=TRIAL_S)
    version, info = trial.version(), trial.info()
    trial.timeout = ANSWER_S
    components = [str(component.get("Name", "")) for component in version.get("Components") or ()]
    product = "podman" if any("podman" in name.lower() for name in components) else "docker"
    rootless = any("rootless" in option for option in info.get("SecurityOptions") or ())
    limits = tuple(name for name, (key, _) in LIMITS.items() if info.get(key))
    if product == "podman":
        rootless, limits = _ask_podman(trial)
    return Engine(place.address, product, str(version.get("Version", "unknown")), rootless, limits, trial)


def _ask_podman(api: docker.APIClient) -> tuple[bool, tuple[str, ...]]:
    """Ask Podman in its own words: in Docker's it claims whatever Docker can."""
    host = api.get(f"{api.base_url}/v4.0.0/libpod/info", timeout=TRIAL_S).json()["host"]
    controllers = host.get("cgroupControllers") or ()
    return bool(host["security"]["rootless"]), tuple(name for name, (_, key) in LIMITS.items() if key in controllers)
