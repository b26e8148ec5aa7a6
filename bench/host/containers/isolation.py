"""Knows what a container of ours may do: nothing but compute on its processors, in its memory, in a few folders."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.types import DeviceRequest, Mount, Ulimit

from .engine import Engine
from .labels import CONTAINER

#: Compilers and thread pools need many, a fork bomb more.
MOST_PROCESSES = 4096
#: Where frameworks and their compilers put files while they work; compiled code is loaded from there, hence exec.
SCRATCH = {"/tmp": "rw,exec,nosuid,nodev"}
#: Docker gives 64 MiB, too little for what frameworks share between processes.
SHARED_MEMORY_BYTES = 1 << 30
#: The ordinary user of a root's containers: nobody.
NOBODY = 65534
PYTHON = "/opt/environment/bin/python"
#: What stands for the host's own PATH and HOME.
VARIABLES = {
    "PATH": "/opt/environment/bin:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "USER": "benchmatrix",
    "LOGNAME": "benchmatrix",
    "LANG": "C.UTF-8",
}


@dataclass(frozen=True)
class Bounds:
    """What one container gets; folders have the same path inside as outside, so that a request means the same."""

    read: Sequence[Path]
    write: Sequence[Path] = ()
    processors: Sequence[int] = ()
    memory_bytes: int | None = None
    gpu: bool = False


def ordinary_user() -> tuple[int, int]:
    """Return user and group for a container: this person's own, nobody's where that is root."""
    return (os.getuid(), os.getgid()) if os.getuid() else (NOBODY, NOBODY)


def open_folder(folder: Path, engine: Engine) -> None:
    """Make a folder that a container can write into."""
    folder.mkdir(parents=True, exist_ok=True)
    user, group = ordinary_user()
    if os.getuid() == 0:
        os.chown(folder, user, group)
    elif engine.rootless and engine.product == "docker":
        # This person is root inside, and the ordinary user inside is somebody else out here.
        folder.chmod(0o777)


def create(
    engine: Engine,
    image: str,
    command: Sequence[str],
    *,
    folder: Path,
    variables: Mapping[str, str],
    bounds: Bounds,
    checkout: str,
) -> str:
    """Create a container that will run ``command`` in ``folder``, and return its identity. Raises ENGINE_ERRORS."""
    for place in bounds.write:
        open_folder(place, engine)
    created = engine.api.create_container(
        image,
        list(command),
        environment=dict(variables),
        working_dir=str(folder),
        user=":".join(map(str, ordinary_user())),
        stdin_open=True,
        labels={CONTAINER: checkout},
        host_config=host_config(engine, bounds),
    )
    return str(created["Id"])


def host_config(engine: Engine, bounds: Bounds) -> dict[str, Any]:
    """Return the engine's options for a container within ``bounds``; seccomp stays the engine's default profile."""
    mounts = [Mount(str(path), str(path), type="bind", read_only=True) for path in bounds.read]
    mounts += [Mount(str(path), str(path), type="bind") for path in bounds.write]
    options: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        # The first process of a container ignores signals such as SIGSEGV; an init hands them on.
        "init": True,
        "tmpfs": SCRATCH,
        "shm_size": SHARED_MEMORY_BYTES,
        "log_config": {"type": "none", "config": {}},
        "mounts": mounts,
    }
    if engine.product == "docker":
        # Podman takes all limits or none, its own settings then; a core would have nowhere to go there either.
        options["ulimits"] = [Ulimit(name="core", soft=0, hard=0), _open_files()]
    if "processes" in engine.limits:
        options["pids_limit"] = MOST_PROCESSES
    if bounds.memory_bytes and "memory" in engine.limits:
        # No swap: a cell that swaps would be slow instead of out of memory.
        options.update(mem_limit=bounds.memory_bytes, memswap_limit=bounds.memory_bytes)
    if bounds.processors and "processors" in engine.limits:
        # A set, never a quota: a quota throttles in the middle of a sample.
        options["cpuset_cpus"] = ",".join(map(str, bounds.processors))
    if bounds.gpu:
        options.update(_gpus(engine, os.environ))
    config = dict(engine.api.create_host_config(**options))
    if engine.rootless and engine.product == "podman":
        # This person's number stays what it is inside. The SDK knows Docker's modes only.
        config["UsernsMode"] = "keep-id"
    return config


def _open_files() -> Ulimit:
    """Return the number of files that this process may open, so that a container's cell has what a venv's has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Ulimit(name="nofile", soft=soft, hard=hard)


def _gpus(engine: Engine, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return what gives a container the GPUs that this process may use."""
    chosen = environ.get("CUDA_VISIBLE_DEVICES", "")
    if engine.product == "podman":
        return {"devices": ["nvidia.com/gpu=all"]}
    ids = [part.strip() for part in chosen.split(",") if part.strip()]
    count = {"device_ids": ids} if ids else {"count": -1}
    return {"device_requests": [DeviceRequest(capabilities=[["gpu"]], **count)]}
