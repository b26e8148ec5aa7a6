"""Ends what workers leave behind, and has a small process, the guard, do it for a host that was killed.

Each worker carries a mark in its environment variables, which what it starts inherits, and is in a control group where
one can be had. A host that ends in order looks for what is left; where nothing is, the guard has nothing to do.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from bench.worker import family, scratch

from . import control_group

PREFIX = "benchmatrix-"
#: Passes over all processes, at most, until none carries a mark.
MOST_PASSES = 20
#: How often at most, and after how many seconds each, the guard tries to remove temporary folders: on a busy machine,
#: or one that frees much memory, what was killed takes a while to end.
SWEEPS, SWEEP_S = 300, 0.1
#: The guard's program waits for the end of the host, and imports nothing before: it starts in every run.
PROGRAM = """import os, sys
if not os.read(0, 1):
    sys.path.insert(0, sys.argv[1])
    from bench.host.workers.guard import clear
    clear(*sys.argv[2:])
"""
ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class GuardedWorker:
    """A worker that the guard can find again: by its mark, and by its control group where it has one."""

    mark: str
    #: Its control group; None where it has none.
    group: Path | None = None

    @property
    def variables(self) -> dict[str, str]:
        return {scratch.MARK: self.mark}

    def enclose(self, process: int) -> GuardedWorker:
        """Move the worker, which has just been started, into its control group; return what came of it."""
        if self.group is None or control_group.put(self.group, process):
            return self
        with contextlib.suppress(OSError):
            self.group.rmdir()
        return GuardedWorker(self.mark)

    def end(self) -> None:
        """Kill what is left of the worker and of all that it started."""
        if self.group is not None:
            control_group.end(self.group)
        else:
            end_marked(self.mark)


class Guard:
    """The guard of this process."""

    def __init__(self) -> None:
        self._token = os.urandom(scratch.HOST_CHARACTERS // 2).hex()
        self._made = 0
        own = control_group.own_group()
        self._group = None if own is None else control_group.make(own, f"{PREFIX}{os.getpid()}-{self._token}")
        # The end of this process closes the pipe.
        reading, self._kept = os.pipe()
        arguments = [str(ROOT), self._token, str(self._group or ""), tempfile.gettempdir()]
        with contextlib.suppress(OSError, NotImplementedError):
            os.posix_spawn(
                sys.executable,
                [sys.executable, "-S", "-E", "-c", PROGRAM, *arguments],
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0)],
                setsid=True,
                # They must not end the guard.
                setsigmask=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
            )
        os.close(reading)
        self._host = os.getpid()
        atexit.register(self.dismiss)

    def dismiss(self) -> None:
        """Let the guard go if no worker left anything; otherwise it clears up when this process has ended."""
        if os.getpid() == self._host and self.nothing_is_left():
            with contextlib.suppress(OSError):
                os.write(self._kept, b".")

    def nothing_is_left(self) -> bool:
        """Remove the control group if it is empty; return whether no group, process or folder of a worker is left."""
        try:
            if self._group is not None:
                self._group.rmdir()
            folders = os.listdir(tempfile.gettempdir())
        except OSError:
            return False
        return not marked(self._token) and not any(name.startswith(scratch.PREFIX) for name in folders)

    def new_worker(self) -> GuardedWorker:
        """Give the next worker a mark and a control group, with which it is to be started."""
        self._made += 1
        group = self._group and control_group.make(self._group, str(self._made))
        return GuardedWorker(f"{self._token}{self._made:08x}", group)


@functools.cache
def guard() -> Guard:
    """Return the guard of this process, which starts with the first worker."""
    return Guard()


def clear(token: str, group: str, shared: str) -> None:
    """End the workers of a host that has ended, and remove their temporary folders."""
    if group:
        control_group.end(Path(group))
    end_marked(token)
    # Processes that were killed hold their locks until they are gone.
    for _ in range(SWEEPS):
        if not scratch.sweep(shared, token):
            return
        time.sleep(SWEEP_S)


def end_marked(mark: str) -> None:
    """Kill the processes whose mark begins with ``mark``."""
    for _ in range(MOST_PASSES):
        found = marked(mark)
        if not found:
            return
        for process in found:
            family.send(process, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """List the living processes whose mark begins with ``mark``."""
    words = f"{scratch.MARK}={mark}".encode()
    return [process for process in _processes() if _carries(process, words)]


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
    except OSError:
        return []  # Not Linux.


def _carries(process: int, words: bytes) -> bool:
    """Tell whether a living process carries a mark; it is empty for one that has ended and for other users'."""
    try:
        with open(f"/proc/{process}/environ", "rb", buffering=0) as file:
            variables = file.read()
    except OSError:
        return False
    return variables.startswith(words) or b"\0" + words in variables
