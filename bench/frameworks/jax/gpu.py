"""Reads and limits JAX's share of a GPU's memory, which environment variables set before JAX first uses the GPU."""

from __future__ import annotations

import ctypes
import os

from ...program import Unsupported

#: {our name: names in the allocator's report}; the first name that is there counts.
PEAKS = {
    "allocated_peak_bytes": ("peak_bytes_in_use",),
    "reserved_peak_bytes": ("peak_pool_bytes", "pool_bytes", "peak_bytes_reserved"),
}


def allocator():
    """Name the allocator that the variables choose: ``bfc, preallocated``, ``bfc, growing``, platform, …"""
    name = os.environ.get("XLA_PYTHON_CLIENT_ALLOCATOR", "").lower()
    if name not in ("", "default", "bfc"):
        return name
    preallocate = os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE", "") not in ("false", "False", "0")
    return "bfc, preallocated" if preallocate else "bfc, growing"


def peaks(reported):
    """Select the peaks of ``memory_stats()``; a pool of 0 bytes is one that is not counted."""
    found = {}
    for ours, names in PEAKS.items():
        for name in names:
            if reported.get(name):
                found[ours] = int(reported[name])
                break
    return found


def capability(device):
    """Return the compute capability of an NVIDIA GPU; None for another one, which names its architecture instead."""
    parts = str(getattr(device, "compute_capability", "")).split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) == 2 and all(part.isdigit() for part in parts) else None


def limit(limit_bytes):
    """Make JAX take at most this much of the GPU; call it before JAX uses the GPU."""
    if allocator() in ("platform", "cuda_async"):
        raise Unsupported("jax limits no memory with XLA_PYTHON_CLIENT_ALLOCATOR={}".format(allocator()))
    # jaxlib accepts only one of the two names; the newer one is used where the environment sets it.
    name = "XLA_CLIENT_MEM_FRACTION"
    if name not in os.environ:
        name = "XLA_PYTHON_CLIENT_MEM_FRACTION"
    os.environ[name] = "{:.6f}".format(min(1.0, limit_bytes / total_bytes()))


def total_bytes():
    """Ask CUDA's driver how much memory the first visible GPU has, without making a context there."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise Unsupported("jax sees no NVIDIA GPU: {}".format(error)) from error
    device, total = ctypes.c_int(), ctypes.c_size_t()
    calls = (
        lambda: driver.cuInit(0),
        lambda: driver.cuDeviceGet(ctypes.byref(device), 0),
        lambda: driver.cuDeviceTotalMem_v2(ctypes.byref(total), device),
    )
    for call in calls:
        status = call()
        if status:
            raise Unsupported("CUDA's driver answers with error {}".format(status))
    return total.value
