"""Turns the engine's state of an exited container into a status and a reason."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.record import FAILED, OUT_OF_MEMORY

from ..workers.worker_process import signal_name

#: Shells and inits report a process that a signal ended with this plus the signal's number.
SIGNAL_BASE = 128
KILLED = SIGNAL_BASE + signal.SIGKILL
#: Exit codes of containers whose engine is being stopped.
STOPPED = (KILLED, SIGNAL_BASE + signal.SIGTERM)


@dataclass(frozen=True)
class ContainerExit:
    """The status and reason of a container that exited before its cell was finished."""

    status: str
    reason: str


def exit_of(state: Mapping[str, Any] | None, *, kernel_killed: bool, log_tail: str) -> ContainerExit:
    """Return why a container exited. ``state`` is the engine's State, None for a container that was removed.

    ``kernel_killed`` is true when the kernel killed a process of this machine for lack of memory meanwhile, since
    Podman does not report it. ``log_tail`` is the end of the log, with its separator.
    """
    if state is None:
        return ContainerExit(FAILED, f"the container was removed from outside{log_tail}")
    code = int(state.get("ExitCode") or 0)
    if out_of_memory(state, kernel_killed=kernel_killed):
        whom = "killed" if code == KILLED else "a child process was killed"
        return ContainerExit(OUT_OF_MEMORY, f"{whom} by the kernel for lack of memory")
    if code > SIGNAL_BASE:
        status = OUT_OF_MEMORY if "bad_alloc" in log_tail else FAILED
        return ContainerExit(status, f"killed by {signal_name(code - SIGNAL_BASE)}{log_tail}")
    if state.get("Error"):
        return ContainerExit(FAILED, f"the engine ended the container: {state['Error']}{log_tail}")
    return ContainerExit(FAILED, f"the worker ended with exit code {code}{log_tail}")


def out_of_memory(state: Mapping[str, Any], *, kernel_killed: bool) -> bool:
    """Return whether the kernel killed the worker or one of its children for lack of memory.

    The end of a child does not change the worker's exit code, so the engine's flag counts with any code.
    """
    if state.get("OOMKilled"):
        return True
    return kernel_killed and int(state.get("ExitCode") or 0) in (0, KILLED)
