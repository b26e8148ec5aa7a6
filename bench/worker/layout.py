"""Knows how to give every process another memory layout, so that no cell keeps a lucky or unlucky one.

Where an array lies within its cache lines and pages changes the time of a step by several percent, and it follows from
whatever was allocated before it: from the length of the environment's name in a path, for example. That would stay the
same in all of a cell's processes and look like a difference between cells (Mytkowicz et al. 2009). Random blocks in the
heap make it noise between rounds, which the statistics see (Curtsinger & Berger 2013). Processes that take turns get
the same blocks: what moves both alike cancels from their ratio, and what is left is as often for one as for the other.
"""

from __future__ import annotations

import random
from typing import List, Optional

#: Blocks to scatter: enough to take the holes that the interpreter's start has left.
BLOCKS = 64
#: Python gets blocks larger than 512 bytes from the C library's heap, smaller ones from pools of its own; those of more
#: than 128 KiB have pages of their own.
LEAST_BYTES, MOST_BYTES = 513, 16384

_kept: List[bytearray] = []


def scatter(seed: Optional[int] = None) -> int:
    """Take blocks of random sizes from the heap for as long as the process lives; return their bytes.

    Without a ``seed`` every process has its own.
    """
    draw = random.Random(seed)
    sizes = [draw.randint(LEAST_BYTES, MOST_BYTES) for _ in range(BLOCKS)]
    _kept.extend(map(bytearray, sizes))
    return sum(sizes)
