"""Locks a project, so that it measures one thing at a time, and what the processes of one run make once."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from ..project import STATE
from ..refusal import Refused, naming


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the project at ``root`` for one run; raises Refused while another run holds it."""
    path = root / STATE / "run.lock"
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = path.open("a+")
    with opened as lock:
        try:
            with naming(path, but=BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise Refused(
                f"another run is under way in this project (process {holder}). Two at once would disturb each other; "
                "wait for it, or stop it."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock at ``path``, and hold it; the file is removed in the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # Whoever waits for this file, or makes it anew, finds what was made.
            path.unlink(missing_ok=True)
