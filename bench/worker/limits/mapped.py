"""Maps in a forked process the pages of libraries that its parent had mapped.

Linux copies a process's own memory when it forks, but of its files, such as the code of libraries, nothing: a forked
process maps them again one by one as it uses them. Without this, its memory would seem to grow by code that the import
had used already, and its first call would pay for that, too.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import List, Tuple

import numpy as np

#: The bit of an entry of /proc/self/pagemap that says that the page is mapped (Documentation/admin-guide/mm/pagemap).
PRESENT = 1 << 63


def pages() -> List[Tuple[int, "np.ndarray"]]:
    """List the mapped pages of files in this process: the address of every mapping, and the offsets that are mapped.

    Empty where the kernel does not tell.
    """
    found = []
    try:
        with open("/proc/self/maps") as maps, open("/proc/self/pagemap", "rb", 0) as pagemap:
            for line in maps:
                fields = line.split(None, 5)
                if len(fields) < 6 or not fields[5].startswith("/") or fields[1][0] != "r":
                    continue
                start, end = (int(part, 16) for part in fields[0].split("-"))
                pagemap.seek(start // mmap.PAGESIZE * 8)
                entries = np.frombuffer(pagemap.read((end - start) // mmap.PAGESIZE * 8), dtype=np.uint64)
                there = np.flatnonzero(entries & np.uint64(PRESENT)) * mmap.PAGESIZE
                if len(there):
                    found.append((start, there))
    except (OSError, ValueError):
        return []
    return found


def touch(mapped: List[Tuple[int, "np.ndarray"]]) -> None:
    """Read a byte of every page, so that it is mapped here, too."""
    for start, offsets in mapped:
        size = int(offsets[-1]) + 1
        np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(start))[offsets].sum()
