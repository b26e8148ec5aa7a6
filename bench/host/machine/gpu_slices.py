"""Finds and names the slices of a GPU in MIG mode (Multi-Instance GPU), which CUDA opens in place of the whole."""

from __future__ import annotations

import math
from typing import Any

from .nvml import answer, text

#: The memory of a GPU is divided into so many parts.
PARTS = 8
MIB, GIB = 1 << 20, 1 << 30


def of(library: Any, gpu: Any) -> list[Any]:
    """Return the handles of the slices of a GPU; empty where it is not divided, or has no slice yet."""
    mode = None if gpu is None else answer(library, "nvmlDeviceGetMigMode", gpu)
    if not mode or not mode[0]:
        return []
    most = answer(library, "nvmlDeviceGetMaxMigDeviceCount", gpu) or 0
    found = (answer(library, "nvmlDeviceGetMigDeviceHandleByIndex", gpu, number) for number in range(int(most)))
    return [one for one in found if one is not None]


def is_slice(library: Any, gpu: Any) -> bool:
    """Tell whether a handle is that of a slice."""
    return bool(answer(library, "nvmlDeviceIsMigDeviceHandle", gpu))


def whole(library: Any, gpu: Any) -> Any:
    """Return the handle of the GPU that a slice is of; that of a whole GPU as it is."""
    parent = answer(library, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", gpu) if is_slice(library, gpu) else None
    return gpu if parent is None else parent


def name(library: Any, gpu: Any) -> str:
    """Return the name of a GPU, or that of a slice with its profile, as CUDA gives it: ``NVIDIA H200 MIG 1g.18gb``."""
    told = text(library.nvmlDeviceGetName(gpu))
    if not is_slice(library, gpu) or " MIG " in told:
        return told
    return " ".join(filter(None, (told, "MIG", _profile(library, gpu, whole(library, gpu)))))


def _profile(library: Any, gpu: Any, parent: Any) -> str:
    """Return the profile of a slice, such as ``1g.18gb``: its parts of the GPU's processors, and its memory.

    The memory in the name is rounded up to parts of the whole, as NVIDIA's go-nvlib does it. A compute instance that
    has some of the processors of its slice has their number in front: ``1c.2g.36gb``.
    """
    told = answer(library, "nvmlDeviceGetAttributes", gpu)
    memory = answer(library, "nvmlDeviceGetMemoryInfo", parent)
    if told is None or memory is None or not memory.total:
        return ""
    parts = math.ceil(told.memorySizeMB * MIB / memory.total * PARTS)
    # Half a gigabyte is rounded up: 3g.71gb is half of an H200.
    size = math.floor(parts / PARTS * math.ceil(memory.total / GIB) + 0.5)
    own, slices = int(told.computeInstanceSliceCount), int(told.gpuInstanceSliceCount)
    return ("" if own == slices else f"{own}c.") + f"{slices}g.{size}gb"
