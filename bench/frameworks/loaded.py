"""Reads what is loaded and running in this process: the memory allocator, OpenBLAS, threads by name (Linux only)."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Dict, List, Optional, Set

#: Libraries that replace malloc.
ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")


class _Symbol(ctypes.Structure):
    """The result of dladdr(3) for an address."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def libraries() -> List[str]:
    """List the paths of the shared libraries that are mapped."""
    try:
        with open("/proc/self/maps") as maps:
            paths = {line.split(None, 5)[-1].strip() for line in maps}
    except OSError:
        return []
    return sorted(path for path in paths if path.startswith("/") and ".so" in os.path.basename(path))


def malloc() -> Optional[str]:
    """Name what serves malloc: ``malloc of glibc 2.36``, or the library that replaces it."""
    try:
        process = ctypes.CDLL(None)
        symbol = _Symbol()
        found = process.dladdr(ctypes.cast(process.malloc, ctypes.c_void_p), ctypes.byref(symbol))
    except (OSError, AttributeError):
        return None
    if not found or not symbol.file:
        return None
    name = os.path.basename(symbol.file.decode("utf-8", "replace"))
    # An interpreter that is not position-independent has an entry of its own, which leads to what is preloaded or libc.
    own = os.path.realpath("/proc/self/exe")
    if os.path.realpath(symbol.file.decode("utf-8", "replace")) == own or name == os.path.basename(sys.executable):
        name = next(
            (os.path.basename(path) for path in libraries() if any(word in path for word in ALLOCATORS)), "libc."
        )
    if name.startswith("libc.") or name.startswith("libc-"):
        return "malloc of {}".format(_libc() or name)
    return "malloc of " + name


def allocator() -> Dict[str, str]:
    """Return the setting of a worker that names what serves malloc; nothing where nothing can be found."""
    found = malloc()
    return {"allocator": found} if found else {}


def _libc() -> Optional[str]:
    # On old Pythons, platform.libc_ver gives the version that the interpreter was linked with, not the one that runs.
    try:
        return os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError):
        return None


def is_bound() -> bool:
    """Tell whether this system binds processes to processors, as Linux does and macOS does not."""
    return hasattr(os, "sched_getaffinity")


def processors() -> Set[int]:
    """Return the processors that this process may run on; all of them where the system does not say."""
    return os.sched_getaffinity(0) if is_bound() else set(range(os.cpu_count() or 1))


def threads_named(prefix: str) -> int:
    """Count the threads of this process whose name starts with ``prefix``."""
    count = 0
    try:
        for number in os.listdir("/proc/self/task"):
            with open("/proc/self/task/{}/comm".format(number)) as comm:
                count += comm.read().startswith(prefix)
    except OSError:  # A thread may end while we look.
        pass
    return count


def openblas() -> Dict[str, Any]:
    """Read back which kernels NumPy's OpenBLAS chose, and its threads; empty where none reports them."""
    for path in libraries():
        if "openblas" not in os.path.basename(path):
            continue
        library = ctypes.CDLL(path)
        for pattern in ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}"):
            name = getattr(library, pattern.format("get_corename"), None)
            count = getattr(library, pattern.format("get_num_threads"), None)
            if name is not None and count is not None:
                name.restype = ctypes.c_char_p
                return {"kernels": name().decode("ascii", "replace"), "threads": int(count())}
    return {}
