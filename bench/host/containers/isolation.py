"""Creates containers that may only compute: on given processors, in limited memory, in a few folders, offline."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.types import DeviceRequest, Mount, Ulimit

from . import seccomp
from .engine import Engine
from .labels import CONTAINER

#: Enough for compilers and thread pools; it stops a fork bomb.
MOST_PROCESSES = 4096
#: The folder for temporary files. It allows exec, as frameworks load compiled code from it.
SCRATCH = {"/tmp": "rw,exec,nosuid,nodev"}
#: Docker's default of 64 MiB is too little for frameworks that share arrays between processes.
SHARED_MEMORY_BYTES = 1 << 30
#: The user ``nobody``, who runs the containers that root starts.
NOBODY = 65534
PYTHON = "/opt/environment/bin/python"
#: Variables of every container, in place of the host's.
VARIABLES = {
    "PATH": "/opt/environment/bin:/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "USER": "benchmatrix",
    "LOGNAME": "benchmatrix",
    "LANG": "C.UTF-8",
}


@dataclass(frozen=True)
class Bounds:
    """The folders, processors and memory of one container; folders have the same path inside as outside."""

    read: Sequence[Path]
    write: Sequence[Path] = ()
    processors: Sequence[int] = ()
    memory_bytes: int | None = None
    gpu: bool = False


def ordinary_user() -> tuple[int, int]:
    """Return user and group for a container: those of this process, nobody's where it runs as root."""
    return (os.getuid(), os.getgid()) if os.getuid() else (NOBODY, NOBODY)


def open_folder(folder: Path, engine: Engine) -> None:
    """Make a folder that a container can write to."""
    folder.mkdir(parents=True, exist_ok=True)
    user, group = ordinary_user()
    if os.getuid() == 0:
        os.chown(folder, user, group)
    elif engine.rootless and engine.product == "docker":
        # Rootless Docker maps this user to root inside, and the container's ordinary user to another user outside.
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
    """Create a container that runs ``command`` in ``folder`` once started; return its id. Raises ENGINE_ERRORS."""
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
    """Return the engine's options for a container within ``bounds``."""
    mounts = [Mount(str(path), str(path), type="bind", read_only=True) for path in bounds.read]
    mounts += [Mount(str(path), str(path), type="bind") for path in bounds.write]
    options: dict[str, Any] = {
        "network_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", seccomp.option(engine.product)],
        # The first process of a container ignores signals such as SIGSEGV; an init forwards them.
        "init": True,
        "tmpfs": SCRATCH,
        "shm_size": SHARED_MEMORY_BYTES,
        "log_config": {"type": "none", "config": {}},
        "mounts": mounts,
    }
    if engine.product == "docker":
        # Podman has its own settings, which any limit given here would replace; it writes no core files either.
        options["ulimits"] = [Ulimit(name="core", soft=0, hard=0), _open_files()]
    if "processes" in engine.limits:
        options["pids_limit"] = MOST_PROCESSES
    if bounds.memory_bytes and "memory" in engine.limits:
        # No swap, so that a cell runs out of memory instead of becoming slow.
        options.update(mem_limit=bounds.memory_bytes, memswap_limit=bounds.memory_bytes)
    if bounds.processors and "processors" in engine.limits:
        # A set of processors, as a quota would throttle in the middle of a sample.
        options["cpuset_cpus"] = ",".join(map(str, bounds.processors))
    if bounds.gpu:
        options.update(_gpus(engine, os.environ))
    config = dict(engine.api.create_host_config(**options))
    if engine.rootless and engine.product == "podman":
        # The user keeps its number inside. The SDK accepts only Docker's modes.
        config["UsernsMode"] = "keep-id"
    return config


def _open_files() -> Ulimit:
    """Return this process's limit of open files, so that cells in containers and in venvs have the same."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return Ulimit(name="nofile", soft=soft, hard=hard)


def _gpus(engine: Engine, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that give a container the GPUs of this process."""
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    ids = [part.strip() for part in (chosen or "").split(",") if part.strip()]
    if chosen is not None and (not ids or ids[0].startswith("-")):
        return {}  # None are visible, as to a program outside.
    if engine.product == "podman":
        # NVIDIA's toolkit names GPUs by number and by UUID. As ``devices``, Podman took these names for paths.
        names = [f"nvidia.com/gpu={name}" for name in ids or ["all"]]
        return {"device_requests": [DeviceRequest(driver="cdi", device_ids=names)]}
    count = {"device_ids": ids} if ids else {"count": -1}
    return {"device_requests": [DeviceRequest(capabilities=[["gpu"]], **count)]}
