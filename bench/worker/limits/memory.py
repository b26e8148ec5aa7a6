"""Knows how much memory this process uses, and how to limit it."""

from __future__ import annotations

import ctypes
import resource


def _status_bytes(key: str) -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return 0


def resident_bytes() -> int:
    return _status_bytes("VmRSS")


def peak_bytes() -> int:
    """Return the largest resident size since the process started or since ``forget_peak``."""
    return _status_bytes("VmHWM")


def data_bytes() -> int:
    """Return the private memory that this process may write to, used yet or not: what ``limit_bytes`` limits."""
    return _status_bytes("VmData")


def give_back() -> None:
    """Let the allocator return what has been freed, so that it is not taken for what is needed."""
    # The GNU C library alone has it.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def forget_peak() -> bool:
    """Let the peak start anew from the present size; False where the kernel does not allow it."""
    give_back()
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        return False
    return True


def limit_bytes(limit: int) -> None:
    """Make an allocation beyond ``limit`` bytes of private memory fail in this process instead of the machine.

    RLIMIT_DATA rather than RLIMIT_AS: CUDA reserves far more address space than it uses.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
