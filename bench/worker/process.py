"""Reads a worker's command line, and binds its process to processors and to its host.

It imports nothing that starts threads.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import signal
import stat
import sys
import traceback
from typing import Callable, List, NoReturn, Sequence, Tuple

#: Passes over the threads of a process, at most, until all of them run on the right processors.
MOST_PASSES = 10


def pin(processors: List[int]) -> None:
    """Bind this process to ``processors``, before any library starts its threads: JAX sizes its pool by this alone.

    macOS binds nothing.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    os.sched_setaffinity(0, processors)


def move(processors: List[int], others: Sequence[int] = ()) -> None:
    """Bind this process, with all threads that it has by now, to other ``processors``; raise OSError if some stay.

    ``others`` are processes that it started, which move with it.

    A thread that starts meanwhile inherits its parent's affinity, so all threads are checked until none had to move.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    for process in (os.getpid(), *others):
        for _ in range(MOST_PASSES):
            moved = [_moved(int(thread), processors) for thread in os.listdir("/proc/{}/task".format(process))]
            if not any(moved):
                break
        else:
            raise OSError("new threads of process {} keep starting on other processors".format(process))


def _moved(thread: int, processors: List[int]) -> bool:
    """Bind a thread; return whether it was bound to other processors before."""
    try:
        if os.sched_getaffinity(thread) == set(processors):
            return False
        os.sched_setaffinity(thread, processors)
    except ProcessLookupError:
        pass  # It has just ended.
    return True


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its host dies: a stopped worker would not see its pipe close."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (OSError, AttributeError):
        pass  # Not Linux: the closed pipe ends a worker that is not stopped.


def keep_only(descriptor: int) -> None:
    """Close pipes and sockets that a forked process has from the one before it, whose host must see the end of that.

    ``descriptor`` stays open, and so do the log and the drivers of devices.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for name in os.listdir("/dev/fd"):
        other = int(name)
        # The folder that was just read is in its own list.
        with contextlib.suppress(OSError):
            mode = os.fstat(other).st_mode
            if other > 2 and other != descriptor and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
                os.close(other)


def exit_after(work: Callable[[], int]) -> NoReturn:
    """End this process, which was forked, with the exit code of its ``work``: 1 where that raises, whose error is told.

    What the process before it has registered for its own end does not run here.
    """
    code = 1
    try:
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def arguments(given: List[str]) -> argparse.Namespace:
    """Read the command line: ``processors`` to be bound to, empty for any, the seed of the memory ``layout``, whether
    this process is the ``parent`` of workers, and each ``source`` with other people's code.
    """
    parser = argparse.ArgumentParser("python -m bench.worker", description="Started by the host, not by hand.")
    parser.add_argument("--processors", type=_numbers, default=[], metavar="0,1")
    parser.add_argument("--layout", type=int, metavar="SEED")
    parser.add_argument("--parent", action="store_true", help="import a framework and fork workers")
    parser.add_argument("--source", action="append", type=_source, default=[], metavar="NAME=FOLDER")
    return parser.parse_args(given)


def _source(text: str) -> Tuple[str, str]:
    name, _, folder = text.partition("=")
    return name, folder


def _numbers(text: str) -> List[int]:
    return [int(number) for number in text.split(",")]
