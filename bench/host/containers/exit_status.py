"""Knows what the end of a container means: a status and a reason, from what the engine says of it."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.record import FAILED, OUT_OF_MEMORY

#: A shell's way, and an init's, to say that a signal ended the process.
SIGNAL_BASE = 128
KILLED = SIGNAL_BASE + signal.SIGKILL
#: How containers end whose engine is told to stop.
STOPPED = (KILLED, SIGNAL_BASE + signal.SIGTERM)


@dataclass(frozen=True)
class Ending:
    """How a container ended."""

    status: str
    reason: str


def ending(state: Mapping[str, Any] | None, *, kernel_killed: bool, said: str = "") -> Ending:
    """Judge the engine's State of a container that ended unasked; None is one that is gone.

    ``kernel_killed``: whether the kernel killed anything on this machine for lack of memory meanwhile, since Podman
    does not tell; ``said``: the end of the log.
    """
    if state is None:
        return Ending(FAILED, f"the container was removed from outside{said}")
    code = int(state.get("ExitCode") or 0)
    if out_of_memory(state, kernel_killed=kernel_killed):
        whom = "killed" if code == KILLED else "a child process was killed"
        return Ending(OUT_OF_MEMORY, f"{whom} by the kernel for lack of memory")
    if code > SIGNAL_BASE:
        status = OUT_OF_MEMORY if "bad_alloc" in said else FAILED
        return Ending(status, f"killed by {_signal_name(code - SIGNAL_BASE)}{said}")
    if state.get("Error"):
        return Ending(FAILED, f"the engine ended the container: {state['Error']}{said}")
    return Ending(FAILED, f"the worker ended with exit code {code}{said}")


def out_of_memory(state: Mapping[str, Any], *, kernel_killed: bool) -> bool:
    """Tell whether the kernel killed a process of the container for lack of memory, the worker or a child.

    A child's end leaves the worker's exit code as it is, so the engine's flag counts whatever the code.
    """
    if state.get("OOMKilled"):
        return True
    return kernel_killed and int(state.get("ExitCode") or 0) in (0, KILLED)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
