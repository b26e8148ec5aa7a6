"""Builds a folder in a staging folder beside its place and then renames it, one process at a time."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Network file systems of clusters are often mounted without locks.
WITHOUT_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


def lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file; return False where its file system has no locks.

    Raises BlockingIOError where another process holds the lock and this one does not ``wait``.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
        return False
    return True


@contextmanager
def exclusive(place: Path, announce: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock of ``place`` and yield its descriptor.

    A tool that is started with the descriptor holds the lock until it ends, even if this process is killed before.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(place.with_name(f"{place.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            if not lock(descriptor, wait=False):
                announce(f"{place.parent}: this file system has no locks; do not build here twice at once")
        except BlockingIOError:
            announce(f"{place.name}: another process is building it; waiting")
            lock(descriptor, wait=True)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock at ``path``, and hold it; the file is removed in the end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with path.open("a") as file:
            lock(file.fileno(), wait=True)
            # Who held it before has removed the file: the lock of another one, made since, keeps nobody out of this.
            if not _is_at(path, file.fileno()):
                continue
            try:
                yield
            finally:
                # Whoever waits for this file, or makes it anew, finds what was made.
                path.unlink(missing_ok=True)
            return


@contextmanager
def replacement(place: Path) -> Iterator[Path]:
    """Yield the path of a staging folder beside ``place``, and rename it to ``place`` when the block succeeds.

    The caller holds the lock of ``place``, so no other process builds there. Staging folders that earlier builds left
    are removed.
    """
    for role in ("building", "retired"):
        for stale in place.parent.glob(f"{glob.escape(place.name)}.{role}-*"):
            shutil.rmtree(stale, ignore_errors=True)
    folder = place.with_name(f"{place.name}.building-{os.getpid()}")
    retired = place.with_name(f"{place.name}.retired-{os.getpid()}")
    try:
        yield folder
        _sync(folder)
        if place.exists():
            os.rename(place, retired)
        os.rename(folder, place)
        _sync(place.parent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(retired, ignore_errors=True)


def write_whole(path: Path, text: str) -> None:
    """Write ``path`` so that at any moment it holds either its earlier content or all of ``text``.

    Raises OSError, which names a file also where the disk is full: the system's error does not.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise error if error.filename else OSError(error.errno, error.strerror, str(path)) from None
    finally:
        partial.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether the open file is still the one at ``path``."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
