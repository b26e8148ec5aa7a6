"""Knows how a process starts with the same addresses as its neighbours."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

#: The kernel's flag ADDR_NO_RANDOMIZE, and what asks for the flags in force (personality(2)).
NOT_DRAWN, TELL = 0x0040000, 0xFFFFFFFF


@contextlib.contextmanager
def not_drawn() -> Iterator[None]:
    """Let processes started meanwhile by this thread have addresses that the kernel does not draw.

    What a worker draws instead, it shares with those that it takes turns with: see ``bench.worker.timing.layout``.
    Where a system cannot do so, or must not, the kernel goes on drawing.
    """
    personality = getattr(ctypes.CDLL(None), "personality", None)
    before = -1 if personality is None else personality(ctypes.c_ulong(TELL))
    if personality is None or before == -1:
        yield
        return
    personality(ctypes.c_ulong(before | NOT_DRAWN))
    try:
        yield
    finally:
        personality(ctypes.c_ulong(before))
