"""Makes the list of system calls that a container may use: Docker's own list, without those that cells do not need.

``docker/seccomp/default.json`` is the list of Docker's engine, unchanged (github.com/moby/profiles, commit
cd3bed8061c7, Apache licence 2.0). An engine's built-in list depends on its version: since kernel 4.8 most of them allow
ptrace, and older ones allow io_uring. So each container gets this one.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from .. import project
from ..setup.caches import cache_folder
from ..setup.staging import write_whole

#: Calls that read or change other processes, and those of a queue of calls that no list can look into.
FORBIDDEN = frozenset(
    [
        *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp"),
        *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    ]
)

DEFAULT = "docker/seccomp/default.json"


@functools.cache
def profile() -> str:
    """Return the list as JSON."""
    return json.dumps(without(json.loads(project.data(DEFAULT).read_bytes()), FORBIDDEN))


def without(listed: dict[str, Any], forbidden: frozenset[str]) -> dict[str, Any]:
    """Return a list in Docker's form that allows none of ``forbidden``, on any machine, with any capability."""
    rules = []
    for rule in listed["syscalls"]:
        names = [name for name in rule["names"] if name not in forbidden]
        if names:
            rules.append({**rule, "names": names})
    return {**listed, "syscalls": rules}


def option(product: str) -> str:
    """Return the engine's security option: Docker takes the list itself, Podman the path of a file with it."""
    if product == "podman":
        path = cache_folder("benchmatrix") / "seccomp.json"
        write_whole(path, profile())
        return f"seccomp={path}"
    return f"seccomp={profile()}"
