"""Knows how a worker's process is bound to processors and to its host; imports nothing that starts threads."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import List


def pin(processors: List[int]) -> None:
    """Bind this process to ``processors``, before any library starts its threads: JAX sizes its pool by this alone."""
    os.sched_setaffinity(0, processors)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its host dies, since a stopped worker would never see its pipe close."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass  # Not Linux: the closed pipe ends a worker that is not stopped.


def processors(arguments: List[str]) -> List[int]:
    """Read ``--processors 0,1``; none means: leave the affinity alone."""
    if arguments[:1] == ["--processors"] and len(arguments) == 2:
        return [int(number) for number in arguments[1].split(",")]
    if arguments:
        raise SystemExit("usage: python -m bench.worker [--processors 0,1]  (started by the host, not by hand)")
    return []
