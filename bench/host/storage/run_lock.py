"""Locks a project, so that it measures one thing at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ..project import STATE
from ..refusal import Refused, naming
from ..setup import staging


class RunUnderWay(Refused):
    """Another run holds the project."""


@contextlib.contextmanager
def exclusive(root: Path, announce: Callable[[str], None] = print) -> Iterator[None]:
    """Hold the project at ``root`` for one run; raises RunUnderWay while another run holds it.

    Where its file system has no locks, as some of clusters, that is announced.
    """
    path = root / STATE / "run.lock"
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        opened = path.open("a+")
    with opened as lock:
        try:
            with naming(path, but=BlockingIOError):
                if not staging.lock(lock.fileno(), wait=False):
                    announce(f"{root}: this file system has no locks; do not measure here twice at once")
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise RunUnderWay(
                f"another run is under way in this project (process {holder}). Two at once would disturb each other; "
                "wait for it, or stop it."
            ) from None
        with naming(path):
            os.ftruncate(lock.fileno(), 0)
            # Without a buffer: what it holds after an error would be written when it is closed.
            os.write(lock.fileno(), str(os.getpid()).encode())
        yield
