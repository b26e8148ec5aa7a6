"""Reads how much memory this process uses, and limits it."""

from __future__ import annotations

import ctypes
import resource


def _status_bytes(key: str) -> int:
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith(key + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        # macOS has no present sizes, only this peak, in bytes. Differences of it are then the growth of the peak.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return 0


def resident_bytes() -> int:
    return _status_bytes("VmRSS")


def peak_bytes() -> int:
    """Return the largest resident size since the start of the process or the last ``forget_peak``."""
    return _status_bytes("VmHWM")


def file_bytes() -> int:
    """Return the resident pages of mapped files, such as libraries; the kernel takes them back when memory is short."""
    return _status_bytes("RssFile")


def data_bytes() -> int:
    """Return the private writable memory of this process, used or not, which ``limit_bytes`` limits."""
    return _status_bytes("VmData")


def give_back() -> None:
    """Make the allocator return freed memory to the kernel, so that it does not count as used."""
    # Only the GNU C library has this function.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def forget_peak() -> bool:
    """Reset the peak to the present size; return False where the kernel does not allow it."""
    give_back()
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        return False
    return True


class Baseline:
    """What a process uses before its cell computes; the memory of the cell is counted from here.

    A library's pages that the kernel took back meanwhile are not memory that the cell returned: where other programs
    needed them, a cell would otherwise seem to use nothing.
    """

    def __init__(self) -> None:
        #: Bytes in use before the cell computes.
        self.bytes = 0
        self._file_bytes = 0
        self._taken_back = 0

    def note(self, preloaded_bytes: int = 0) -> None:
        """Note the memory in use now, without ``preloaded_bytes`` that count as the cell's."""
        give_back()
        self.bytes = resident_bytes() - preloaded_bytes
        self._file_bytes = file_bytes()

    def forget_peak(self) -> bool:
        """Reset the peak to the present size; return False where the kernel does not allow it."""
        forgot = forget_peak()
        self._taken_back = self._missing_bytes() if forgot else 0
        return forgot

    def above(self) -> int:
        """Return the bytes of the peak above the baseline."""
        # Pages that have come back since are in the peak.
        return max(0, peak_bytes() + min(self._taken_back, self._missing_bytes()) - self.bytes)

    def _missing_bytes(self) -> int:
        return max(0, self._file_bytes - file_bytes())


def limit_bytes(limit: int) -> None:
    """Make allocations beyond ``limit`` bytes of private memory fail, before the machine runs out of memory.

    This sets RLIMIT_DATA, not RLIMIT_AS, since CUDA reserves far more address space than it uses.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
