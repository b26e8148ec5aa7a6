"""Finds the container engine, Docker or Podman, connects to it, and reads which limits it can enforce."""

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

#: Timeouts of the first request and of later ones; building and stopping have their own.
PROBE_S = 10
ANSWER_S = 120
#: An engine that is being updated is back within this time.
RESTART_S = 20.0
POLL_S = 0.2

#: Errors of the engine and, as OSError, of the connection to it.
ENGINE_ERRORS = (docker.errors.DockerException, OSError)

#: Reasons for errors of the operating system, which the SDK wraps in several layers of text.
PLAIN_WORDS = {
    "FileNotFoundError": "the socket does not exist",
    "ConnectionRefusedError": "connection refused",
    "PermissionError": "permission denied for this user",
}
#: For every limit its key in Docker's information and the name of the kernel's controller.
LIMITS = {
    "memory": ("MemoryLimit", "memory"),
    "processes": ("PidsLimit", "pids"),
    "processors": ("CPUSet", "cpuset"),
}
REMEDY = (
    "start one (systemctl start docker, or systemctl --user start podman.socket), or give its address: "
    "DOCKER_HOST=unix:///path/to.sock, or docker context use NAME"
)


class NoEngine(Exception):
    """No container engine answers; the message lists the addresses tried and the remedy."""


@dataclass(frozen=True)
class Engine:
    """An engine that answered a request for its version."""

    address: str
    #: ``docker`` or ``podman``.
    product: str
    version: str
    rootless: bool
    #: The limits that the engine can enforce. A rootless engine without delegated control groups lacks some.
    limits: tuple[str, ...]
    api: docker.APIClient

    def describe(self) -> dict[str, Any]:
        """Describe the engine for the record."""
        described = {name: getattr(self, name) for name in ("product", "version", "rootless")}
        return {**described, "limits": list(self.limits)}


@dataclass(frozen=True)
class _Candidate:
    """An address to try, and where it comes from."""

    address: str
    origin: str
    tls: Any = None


def attach(engine: Engine, container: str) -> Any:
    """Open a connection to a container's standard streams. Call it before the start, or the first output is lost."""
    return engine.api.attach_socket(container, {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})


def connect(environ: Mapping[str, str] = os.environ) -> Engine:
    """Connect to the engine at DOCKER_HOST, of the current context, or at the first usual socket. Raises NoEngine."""
    tried = []
    for candidate in _candidates(environ):
        try:
            return _probe(candidate)
        except ENGINE_ERRORS as error:
            tried.append(f"{candidate.address} ({candidate.origin}): {reason_of(error)}")
    listed = "; ".join(tried) or "no socket exists in the usual places"
    raise NoEngine(f"no container engine answers: {listed}. To use containers, {REMEDY}")


class EngineConnection:
    """A connection to the engine that is made again when the engine was restarted."""

    def __init__(self, find: Callable[[], Engine] = connect, patience_s: float = RESTART_S) -> None:
        self._find = find
        self._patience_s = patience_s
        self._engine: Engine | None = None

    def engine(self) -> Engine:
        """Return an engine that answers. Raises NoEngine.

        When an engine that answered before is gone, the first call waits for its restart; later calls do not.
        """
        if self._engine is not None and is_reachable(self._engine):
            return self._engine
        deadline = time.monotonic() + (self._patience_s if self._engine is not None else 0.0)
        while True:
            try:
                self._engine = self._find()
                return self._engine
            except NoEngine:
                if time.monotonic() >= deadline:
                    self._patience_s = 0.0
                    raise
                time.sleep(POLL_S)


def reason_of(error: BaseException) -> str:
    """Return the reason of an engine's error in one line."""
    explanation = getattr(error, "explanation", None) or str(error)
    text = explanation.decode(errors="replace") if isinstance(explanation, bytes) else str(explanation)
    plain = next((words for name, words in PLAIN_WORDS.items() if name in text or name == type(error).__name__), None)
    return plain or " ".join(text.split())


def is_reachable(engine: Engine) -> bool:
    """Return whether the engine still answers."""
    try:
        _check_socket(engine.address)
        return bool(engine.api.ping())
    except ENGINE_ERRORS:
        return False


def _check_socket(address: str) -> None:
    """Raise OSError where a local socket refuses connections: the SDK would leave its own end of one open."""
    if address.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(PROBE_S)
            probe.connect(address.removeprefix("unix://"))


def _candidates(environ: Mapping[str, str]) -> Iterator[_Candidate]:
    if environ.get("DOCKER_HOST"):
        given = docker.utils.kwargs_from_env(environment=dict(environ))
        yield _Candidate(given["base_url"], "DOCKER_HOST", given.get("tls"))
        return
    name = environ.get("DOCKER_CONTEXT") or _current_context(environ)
    if name and name != "default":
        yield _of_context(name)
        return
    runtime = environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    usual = ["/var/run/docker.sock", f"{runtime}/docker.sock", f"{runtime}/podman/podman.sock"]
    for path in [*usual, "/run/podman/podman.sock"]:
        if Path(path).exists():
            yield _Candidate(f"unix://{path}", "usual place")


def _current_context(environ: Mapping[str, str]) -> str | None:
    folder = Path(environ.get("DOCKER_CONFIG") or Path(environ.get("HOME") or "/").joinpath(".docker"))
    try:
        name = json.loads((folder / "config.json").read_bytes()).get("currentContext")
    except (OSError, ValueError, AttributeError):
        return None
    return name if isinstance(name, str) else None


def _of_context(name: str) -> _Candidate:
    origin = f"context {name!r}"
    try:
        context = docker.context.ContextAPI.get_context(name)
    except Exception as error:  # The library raises plain exceptions for an incomplete context.
        raise NoEngine(f"the docker {origin} cannot be read: {error}. List them with: docker context ls") from None
    if context is None or not context.Host:
        raise NoEngine(f"the docker {origin} does not exist. List them with: docker context ls")
    return _Candidate(context.Host, origin, context.TLSConfig)


def _probe(candidate: _Candidate) -> Engine:
    _check_socket(candidate.address)
    api = docker.APIClient(base_url=candidate.address, tls=candidate.tls or False, version="auto", timeout=PROBE_S)
    version, info = api.version(), api.info()
    api.timeout = ANSWER_S
    components = [str(component.get("Name", "")) for component in version.get("Components") or ()]
    product = "podman" if any("podman" in name.lower() for name in components) else "docker"
    rootless = any("rootless" in option for option in info.get("SecurityOptions") or ())
    limits = tuple(name for name, (key, _) in LIMITS.items() if info.get(key))
    if product == "podman":
        rootless, limits = _podman_facts(api)
    return Engine(candidate.address, product, str(version.get("Version", "unknown")), rootless, limits, api)


def _podman_facts(api: docker.APIClient) -> tuple[bool, tuple[str, ...]]:
    """Return whether Podman is rootless, and its limits, from its own API: through Docker's it reports all limits."""
    host = api.get(f"{api.base_url}/v4.0.0/libpod/info", timeout=PROBE_S).json()["host"]
    controllers = host.get("cgroupControllers") or ()
    return bool(host["security"]["rootless"]), tuple(name for name, (_, key) in LIMITS.items() if key in controllers)
