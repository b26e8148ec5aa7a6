"""Knows how to give every process another memory layout, so that no cell keeps a lucky or unlucky one.

Where an array lies within its cache lines and pages changes the time of a step by several percent, and it follows from
whatever was allocated before it: from the length of the environment's name in a path, for example. That would stay the
same in all of a cell's processes and look like a difference between cells (Mytkowicz et al. 2009). Random blocks in the
heap make it noise between rounds, which the statistics see; other blocks before every turn make much of it noise within
a process, which costs less to average than processes do (Curtsinger & Berger 2013). Processes that take turns get the
same blocks: what moves both alike cancels from their ratio, and what is left is as often for one as for the other.

The blocks are the main thread's, from which NumPy and PyTorch allocate; threads of other frameworks have parts of the
heap of their own, which only the start of a process moves. Where code lies matters as much: see ``Layout.shift``.
"""

from __future__ import annotations

import mmap
import random
from typing import List, Optional

#: Blocks to scatter: enough to take the holes that the interpreter's start has left.
BLOCKS = 64
#: Python gets blocks larger than 512 bytes from the C library's heap, smaller ones from pools of its own; the C library
#: gives large ones, of 128 KiB at first, pages of their own.
LEAST_BYTES, MOST_BYTES = 513, 16384
#: Pages by which what is loaded later is moved, at most: 1 GiB, since large libraries lie on borders of 2 MiB.
MOST_PAGES = 1 << 18
#: The largest block, with the C library's own bytes, whose release teaches it; see ``settle_allocator``.
LARGEST_LESSON_BYTES = (32 << 20) - (64 << 10)


class Layout:
    """The blocks that a process keeps for the sake of where others lie."""

    def __init__(self, seed: Optional[int] = None) -> None:
        """Without a ``seed`` every process has its own layout."""
        self._seed = random.getrandbits(32) if seed is None else seed
        self._kept: List[bytearray] = []
        self._gap: Optional[mmap.mmap] = None

    def shift(self) -> int:
        """Move the libraries and large arrays that are still to come, by a number of pages; return the bytes.

        Where code lies decides which branches and pages share the processor's tables: for as long as they lived, some
        processes of PyTorch were 3 % slower than others. The kernel's own draw is each process's own, so the host
        turns it off where it can, and the gap that is drawn here, before the framework is loaded, stands in for it. It
        is never touched and needs no memory.
        """
        size = mmap.PAGESIZE * random.Random("{}/pages".format(self._seed)).randint(1, MOST_PAGES)
        try:
            self._gap = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
        except OSError:
            return 0  # A limit on addresses, such as a cluster's, leaves no room to move in.
        return size

    def scatter(self, turn: Optional[int] = None) -> int:
        """Take the blocks of a turn, or of the start, from the heap, give back those before, and return their bytes."""
        draw = random.Random("{}/{}".format(self._seed, turn))
        sizes = [draw.randint(LEAST_BYTES, MOST_BYTES) for _ in range(BLOCKS)]
        self._kept = list(map(bytearray, sizes))
        return sum(sizes)


def settle_allocator() -> None:
    """Bring the C library's allocator to the state that it has in a process that has lived for a while.

    GNU's moves its thresholds up, at most here, when a large block is released. Until then it is chance, in one process
    and not in its twin, whether the heap's top is given back after every step and faulted in again in the next:
    PyTorch's elementwise-chain was 9 % slower where it was. It stays so for arrays of 32 MiB and more, and for steps
    that release twice as much. The block is never touched, so it needs no memory.
    https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html
    """
    block = bytes(LARGEST_LESSON_BYTES)
    del block
