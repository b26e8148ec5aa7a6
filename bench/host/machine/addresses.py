"""Starts processes without address space layout randomization."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

#: The flag of the kernel, and the argument that only reads the present flags (personality(2)).
ADDR_NO_RANDOMIZE, ONLY_READ = 0x0040000, 0xFFFFFFFF


@contextlib.contextmanager
def fixed_addresses() -> Iterator[None]:
    """Switch the randomization off for processes that this thread starts meanwhile.

    Workers draw their layouts themselves, the same for all that take turns: see ``bench.worker.timing.layout``. Where
    the system does not support or allow this, the randomization stays on.
    """
    personality = getattr(ctypes.CDLL(None), "personality", None)
    before = -1 if personality is None else personality(ctypes.c_ulong(ONLY_READ))
    if personality is None or before == -1:
        yield
        return
    personality(ctypes.c_ulong(before | ADDR_NO_RANDOMIZE))
    try:
        yield
    finally:
        personality(ctypes.c_ulong(before))
