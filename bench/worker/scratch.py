"""Gives one worker a temporary folder, which is removed with what a framework leaves there.

Workers end at once, without the clean-up that libraries register for the end, and some are killed. A killed worker's
folder is removed by a later one: a lock, which the kernel releases with the process, shows that its worker still runs.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time

PREFIX = "benchmatrix-worker-"
#: The environment variable with a worker's mark, and with how many characters the marks of one host's workers begin.
MARK, HOST_CHARACTERS = "BENCHMATRIX_CELL", 8
#: A younger folder may belong to a worker that has not locked it yet.
YOUNG_S = 60.0
#: How often at most, and after how many seconds each, to look again for the end of what a killed worker had forked.
ENDING_TRIES, ENDING_S = 200, 0.01


class Scratch:
    """A worker's temporary folder, from ``take`` to ``leave``."""

    def __init__(self) -> None:
        self._folder = ""

    def take(self) -> None:
        """Give this process a temporary folder of its own; to be called before the framework is imported."""
        shared = tempfile.gettempdir()
        sweep(shared)
        try:
            folder = _make(shared)
        except OSError:
            return  # The disk is full or read-only; the framework reports it where that matters.
        if lock(folder) is None:
            shutil.rmtree(folder, ignore_errors=True)
            return
        self._folder = folder
        os.environ["TMPDIR"] = tempfile.tempdir = folder

    def leave(self) -> None:
        """Remove the folder; call it last, as the process has no other temporary folder."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)


def _make(shared: str) -> str:
    """Make a folder with the host's part of the mark in the place of random letters: paths of sockets are limited."""
    own = os.path.join(shared, "{}{}-".format(PREFIX, os.getpid()))
    host = os.environ.get(MARK, "")[:HOST_CHARACTERS]
    try:
        if host:
            os.mkdir(own + host, 0o700)
            return own + host
    except FileExistsError:
        pass  # An earlier process had the same number.
    return tempfile.mkdtemp(prefix=own)


def lock(folder: str) -> "int | None":
    """Lock a folder for as long as this process lives; return the descriptor, None where another process holds it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_of(process: int, shared: str = "") -> None:
    """Remove the folder of a worker that has just ended; ``shared`` is where workers have theirs."""
    shared = shared or tempfile.gettempdir()
    for name in os.listdir(shared):
        folder = os.path.join(shared, name)
        if name.startswith("{}{}-".format(PREFIX, process)) and not os.path.islink(folder):
            # What a worker has forked holds the lock a moment longer.
            for _ in range(ENDING_TRIES):
                if _remove(folder):
                    break
                time.sleep(ENDING_S)


def _remove(folder: str) -> bool:
    """Remove a folder; return False, and leave it, where a process still holds its lock."""
    descriptor = lock(folder)
    if descriptor is None:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    os.close(descriptor)
    return True


def sweep(shared: str, host: str = "") -> bool:
    """Remove the folders of workers that have ended, except young ones, which may not be locked yet.

    ``host`` is what the marks of one host's workers begin with, all of which have ended: their young ones go, too.
    Return whether one of theirs is left.
    """
    left = False
    for name in os.listdir(shared):
        folder = os.path.join(shared, name)
        if not name.startswith(PREFIX) or os.path.islink(folder):
            continue
        try:
            mine = os.stat(folder).st_uid == os.getuid()
            young = time.time() - os.stat(folder).st_mtime < YOUNG_S
        except OSError:
            continue
        of_host = bool(host) and name.endswith("-" + host)
        if mine and (of_host or not young):
            _remove(folder)
            left = left or (of_host and os.path.exists(folder))
    return left
