"""Randomises the memory layout of every process, so that layout effects do not look like differences between cells.

The position of an array within its cache lines and pages changes the time of a step by several percent. It depends on
all earlier allocations: for example on the length of the environment's name in a path. Without randomisation it would
be the same in all processes of a cell and look like a difference between cells (Mytkowicz et al. 2009). Random blocks
in the heap turn it into noise between rounds, which the statistics include. New blocks before every turn turn much of
it into noise within a process, which is cheaper to average (Curtsinger & Berger 2013). Processes that take turns get
the same blocks: an effect on both cancels from their ratio, and the rest favours either equally often.

The blocks lie in the main thread's heap, from which NumPy and PyTorch allocate. Threads of other frameworks have heaps
of their own, which only a new process changes. The position of code matters as much: see ``Layout.shift``.
"""

from __future__ import annotations

import mmap
import random
from typing import List, Optional

#: Blocks to allocate: enough to fill the holes that the start of the interpreter left in the heap.
BLOCKS = 64
#: Python takes blocks up to 512 bytes from its own pools, larger ones from the C library's heap. The C library maps
#: large blocks, at first from 128 KiB, to pages of their own.
LEAST_BYTES, MOST_BYTES = 513, 16384
#: The largest shift in pages: 1 GiB, since large libraries are aligned to 2 MiB.
MOST_PAGES = 1 << 18
#: The largest block, less the C library's own bytes, whose release moves its thresholds; see ``settle_allocator``.
LARGEST_RELEASE_BYTES = (32 << 20) - (64 << 10)


class Layout:
    """The blocks and the gap that a process keeps to move its other allocations."""

    def __init__(self, seed: Optional[int] = None) -> None:
        """Without a ``seed`` every process has its own layout."""
        self._seed = random.getrandbits(32) if seed is None else seed
        self._kept: List[bytearray] = []
        self._gap: Optional[mmap.mmap] = None

    def shift(self) -> int:
        """Shift libraries and large arrays that are loaded later, by a random number of pages; return the bytes.

        The position of code decides which branches and pages share entries of the processor's tables: some processes of
        PyTorch were 3 % slower than others throughout. The kernel draws positions for every process separately, so the
        host turns that off where it can. This gap, drawn before the framework is loaded, replaces it. The gap is never
        written to and needs no memory.
        """
        size = mmap.PAGESIZE * random.Random("{}/pages".format(self._seed)).randint(1, MOST_PAGES)
        try:
            self._gap = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
        except OSError:
            return 0  # A limit on the address space, such as a cluster's, leaves no room for the gap.
        return size

    def scatter(self, turn: Optional[int] = None) -> int:
        """Allocate the blocks of a turn (None: of the start), then free the previous ones; return the new bytes."""
        draw = random.Random("{}/{}".format(self._seed, turn))
        sizes = [draw.randint(LEAST_BYTES, MOST_BYTES) for _ in range(BLOCKS)]
        self._kept = list(map(bytearray, sizes))
        return sum(sizes)


def settle_allocator() -> None:
    """Bring the C library's allocator to the state that it reaches in a long-lived process.

    The GNU allocator raises its thresholds when a large block is released. Before that, chance decides in every process
    whether the top of the heap is returned after each step and faulted in again in the next: PyTorch's
    elementwise-chain was 9 % slower where it was. This call raises the thresholds to their maximum. It does not help
    arrays of 32 MiB and more, or steps that release 64 MiB. The block is never written to, so it needs no memory.
    https://sourceware.org/glibc/manual/latest/html_node/Malloc-Tunable-Parameters.html
    """
    block = bytes(LARGEST_RELEASE_BYTES)
    del block
