"""Reads the settings of this process that change how numeric libraries compute, except the framework's own."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from typing import Any, Dict, List

import numpy as np

from ..frameworks import loaded
from ..frameworks.facts import Facts

#: Variables with these prefixes change which kernels run, on how many threads, or how memory is allocated, in the
#: libraries that frameworks share.
STEERING = (
    "OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "NVPL_", "NPY_", "NUMEXPR_", "DNNL_", "ONEDNN_",
    "CUDA_", "CUBLAS_", "CUDNN_", "NCCL_", "NVIDIA_", "MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD",
)  # fmt: skip
#: What names the libraries that a process loads before all others.
PRELOAD = "LD_PRELOAD"
#: Flags of /proc/cpuinfo, best first, and the common names of the instruction sets.
INSTRUCTION_SETS = (
    ("amx_tile", "AMX"), ("avx512_bf16", "AVX-512 BF16"), ("avx512_vnni", "AVX-512 VNNI"), ("avx512f", "AVX-512"),
    ("avx2", "AVX2"), ("avx", "AVX"), ("sse4_2", "SSE4.2"), ("sse2", "SSE2"),
    ("sve2", "SVE2"), ("sve", "SVE"), ("asimd", "NEON"),
)  # fmt: skip


def steering_variables(framework: Facts) -> Dict[str, str]:
    """List the environment variables in force that steer numeric libraries or the framework.

    Those that lead to folders of the compilation cache are left out: they change nothing that is computed.
    """
    prefixes = STEERING + framework.variable_prefixes
    found = {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(prefixes) and name not in framework.cache_variables
    }
    if PRELOAD in found:
        # Where the libraries lie changes nothing.
        found[PRELOAD] = " ".join(map(os.path.basename, _preloaded()))
    return found


def not_preloaded() -> List[str]:
    """List the libraries that ``LD_PRELOAD`` names and this process did not load: the loader only warns of them."""
    return [name for name in _preloaded() if not _is_loaded(name)] if sys.platform == "linux" else []


def _is_loaded(name: str) -> bool:
    """Ask the loader, which finds libraries by the name in their file, too, and behind links."""
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return False
    return True


def _preloaded() -> List[str]:
    return os.environ.get(PRELOAD, "").replace(":", " ").split()


def versions() -> Dict[str, str]:
    return {"python": platform.python_version(), "numpy": np.__version__}


def instruction_set(cpuinfo: str = "/proc/cpuinfo") -> str:
    """Name the best vector instructions of the processor; empty where the kernel does not report them."""
    try:
        with open(cpuinfo) as lines:
            told = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return ""
    flags = told.partition(":")[2].split()
    return next((name for flag, name in INSTRUCTION_SETS if flag in flags), "")


def addresses(personality: str = "/proc/self/personality") -> str:
    """Say what chose the addresses of libraries: the kernel for each process, or the round for all its processes."""
    try:
        with open(personality) as flags:
            by_kernel = not int(flags.read(), 16) & 0x0040000  # ADDR_NO_RANDOMIZE
    except (OSError, ValueError):
        by_kernel = True
    return "drawn by the kernel" if by_kernel else "drawn by the round"


def facts() -> Dict[str, Any]:
    """Return what the process may use of the processor, and what chose its addresses."""
    return {
        "processor instruction set": instruction_set(),
        "processors": len(loaded.processors()),
        "addresses": addresses(),
    }
