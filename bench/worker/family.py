"""Finds, stops and ends the processes that a process started, also those that left its session.

A process that calls setsid leaves the session of its worker, and one whose parent ends would become a child of the
machine's first process. A worker adopts such orphans, so that all that it started stays below it in the tree.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from typing import List, Optional, Sequence

#: The numbers of so many children are read at most.
MOST_BYTES = 1 << 16
#: A process stops when it is next scheduled, which takes a while on a busy machine, and not in the midst of disk work.
MOST_SECONDS_TO_STOP = 2.0
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Make this process the parent of all that lose theirs below it; its own children do not inherit this."""
    # Only Linux has this function.
    control = getattr(ctypes.CDLL(None), "prctl", None)
    if control is not None:
        control(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def state(process: int) -> Optional[str]:
    """Return the state of a process as the kernel writes it, such as R, S, T, Z; None where there is none."""
    try:
        with open("/proc/{}/stat".format(process), "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return None


def children(process: int) -> List[int]:
    """List the living children of a process, the oldest first; empty where the kernel does not tell."""
    found = []  # type: List[int]
    tasks = "/proc/{}/task/".format(process)
    try:
        threads = os.listdir(tasks)
    except OSError:
        return found
    for thread in threads:
        # This is done in every turn, and a process may have many threads.
        try:
            descriptor = os.open(tasks + thread + "/children", os.O_RDONLY)
        except OSError:
            continue
        try:
            numbers = os.read(descriptor, MOST_BYTES)
        except OSError:
            numbers = b""
        os.close(descriptor)
        found += [int(number) for number in numbers.split()]
    return [child for child in found if state(child) not in (None, "Z", "X")]


def lasting(process: int, seconds: float, but: Sequence[int] = ()) -> List[int]:
    """Wait for the children of a process to end, so many seconds at most; return those that have not, ``but`` some."""
    deadline = time.monotonic() + seconds
    while True:
        found = [child for child in children(process) if child not in but]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.005)


def descendants(process: int) -> List[int]:
    """List the living processes below a process."""
    found = [process]
    for one in found:
        found += [child for child in children(one) if child not in found]
    return found[1:]


def send(process: int, number: int) -> bool:
    """Send a signal to one process; return whether it was there."""
    try:
        os.kill(process, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def send_group(process: int, number: int) -> None:
    """Send a signal to the group that a process leads."""
    try:
        os.killpg(process, number)
    except (ProcessLookupError, PermissionError):
        # It was forked a moment ago and leads no group yet, or it has ended.
        send(process, number)


def stop(process: int) -> List[int]:
    """Stop a process, then everything below it, until nothing new has started; return what is below it."""
    send_group(process, signal.SIGSTOP)
    below, seen = [], None  # type: List[int], Optional[List[int]]
    deadline = time.monotonic() + MOST_SECONDS_TO_STOP
    while True:
        below = descendants(process)
        running = [one for one in below if state(one) not in ("T", "t", None)]
        for one in running:
            send(one, signal.SIGSTOP)
        # A process whose parent ends while the others are read is seen in the next pass only.
        if not below or (not running and below == seen) or time.monotonic() > deadline:
            break
        if running and below == seen:
            time.sleep(0.0005)
        seen = below
    return below


def resume(process: int, below: List[int]) -> None:
    """Let a process and what was stopped below it go on."""
    for one in below:
        send(one, signal.SIGCONT)
    send_group(process, signal.SIGCONT)


def end(process: int) -> None:
    """Kill a process and everything below it, which is stopped first, so that it starts nothing new."""
    # The process itself is the last: what is below it would move up when it ends.
    for below in stop(process):
        send(below, signal.SIGKILL)
    send_group(process, signal.SIGKILL)
