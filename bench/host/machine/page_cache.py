"""Drops files from the kernel's page cache and reads them again, so that they lie in other pages of memory.

A library stays in the page cache for as long as there is memory, so that every process of a run, and of the next runs,
computes with the code in the same physical pages; these probably decide what shares a place in the processor's caches.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import stat
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

#: As much of a file is read at once: the pages that were freed last would otherwise hold the same file again.
PIECE_BYTES = 1 << 20
#: As many pieces are read at the same time. One by one, a disk waits for the next request: that took 1.5 times as long.
READERS = 4
#: As many files are open at a time: a process may usually have 1,024, and eight versions of PyTorch have more of them.
FILES_AT_ONCE = 200


def place_anew(files: Iterable[Path], random: np.random.Generator) -> int:
    """Read what the page cache holds of the files again, in a random order; return how many bytes.

    Files that cannot be opened and those of other users are left out: Linux does not say what the cache holds of them.
    What a process has mapped, and what lies on a file system in memory, stays where it is.
    """
    if not hasattr(os, "posix_fadvise"):
        return 0
    every = list(files)
    order = [every[place] for place in random.permutation(len(every))]
    return sum(_place(order[first : first + FILES_AT_ONCE], random) for first in range(0, len(order), FILES_AT_ONCE))


def _place(files: Iterable[Path], random: np.random.Generator) -> int:
    with contextlib.ExitStack() as stack:
        held = {descriptor: list(_held(descriptor)) for descriptor in _opened(files, stack)}
        for descriptor in held:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        pieces = [(descriptor, start, end) for descriptor, ranges in held.items() for start, end in ranges]
        order = random.permutation(pieces)
        with ThreadPoolExecutor(READERS) as readers:
            return sum(readers.map(_read, (order[first::READERS] for first in range(READERS))))


def _read(pieces: Iterable[tuple[int, int, int]]) -> int:
    """Read pieces of open files; return how many bytes."""
    into = memoryview(bytearray(PIECE_BYTES))
    return sum(os.preadv(file, [into[: end - start]], start) for file, start, end in pieces)


def libraries(folder: Path) -> Iterator[Path]:
    """Find the shared libraries in a folder."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if name.endswith(".so") or ".so." in name)


def _opened(files: Iterable[Path], stack: contextlib.ExitStack) -> Iterator[int]:
    """Open regular files of this user, until the stack is left."""
    for file in files:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        stack.callback(os.close, descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and os.geteuid() in (0, status.st_uid):
            yield descriptor


def _held(descriptor: int) -> Iterator[tuple[int, int]]:
    """Return the parts of a file, in bytes, that are in the page cache, in pieces."""
    size = os.fstat(descriptor).st_size
    if not size:
        return
    with mmap.mmap(descriptor, size, prot=mmap.PROT_READ) as view:
        pages = np.zeros(-(-size // mmap.PAGESIZE), dtype=np.uint8)
        address = np.frombuffer(view, dtype=np.uint8).ctypes.data
        if ctypes.CDLL(None).mincore(
            ctypes.c_void_p(address), ctypes.c_size_t(size), ctypes.c_void_p(pages.ctypes.data)
        ):
            return
    edges = np.flatnonzero(np.diff(np.concatenate(([0], (pages & 1).astype(np.int8), [0]))))
    for first, last in (mmap.PAGESIZE * edges.reshape(-1, 2)).tolist():
        for start in range(first, last, PIECE_BYTES):
            yield start, min(start + PIECE_BYTES, last, size)
