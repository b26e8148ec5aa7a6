"""Describes this machine: processor, memory, operating system, GPUs."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import gpu_slices, processors
from .gpu import handles
from .nvml import nvml, text


def processor_facts(path: str = "/proc/cpuinfo") -> dict[str, str]:
    """Return what the kernel tells of the first processor, by the kernel's names; empty where it tells nothing."""
    try:
        first = Path(path).read_text().partition("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def processor_model() -> str:
    """Return the processor's name as the kernel gives it."""
    return processor_facts().get("model name") or platform.processor() or platform.machine()


def processor_version(told: Mapping[str, str]) -> str:
    """Return the numbers that tell generations of processors apart, as cloud machines hide the name; maybe empty."""
    numbers = {word: told.get(name) for word, name in (("family", "cpu family"), ("model", "model"))}
    return ", ".join(f"{word} {number}" for word, number in numbers.items() if number)


def processor() -> list[str]:
    """Return what tells this machine's processor from others: its name, and the numbers of its generation."""
    return [processor_model(), processor_version(processor_facts())]


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def available_bytes() -> int:
    """Return the memory that is available without swapping; all memory where the kernel does not give it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return memory_bytes()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), memory_bytes())


def huge_pages(enabled: str = "/sys/kernel/mm/transparent_hugepage/enabled") -> str:
    """Return the setting of transparent huge pages: ``always``, ``madvise`` or ``never``; empty if unknown."""
    try:
        told = Path(enabled).read_text()
    except OSError:
        return ""
    return told.partition("[")[2].partition("]")[0]


def peak_bytes(process: int | str = "self") -> int:
    """Return the largest resident size of a process; 0 once it has ended, and on macOS, which does not tell."""
    try:
        lines = Path(f"/proc/{process}/status").read_text(errors="replace").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)


def gpus(library: Any = None) -> list[dict[str, Any]]:
    """List the NVIDIA GPUs that can be opened, with memory and driver; empty without a driver. Tests pass ``library``.

    Of a GPU that is divided, each MIG slice is listed. A GPU without memory of its own has no ``memory_bytes``.
    """
    library = nvml() if library is None else library
    found = []
    with handles(library) as there:
        for gpu in there:
            if gpu is None:
                continue
            described: dict[str, Any] = {
                "name": gpu_slices.name(library, gpu),
                "driver": text(library.nvmlSystemGetDriverVersion()),
            }
            with contextlib.suppress(library.NVMLError):
                described["memory_bytes"] = int(library.nvmlDeviceGetMemoryInfo(gpu).total)
            found.append(described)
    return found


def describe() -> dict[str, Any]:
    """Describe the machine for the record; no host name, since results are published."""
    return {
        "processor": processor_model(),
        "processor_version": processor_version(processor_facts()),
        "processors": len(processors.available()),
        "memory_bytes": memory_bytes(),
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "huge_pages": huge_pages(),
        "gpus": gpus(),
    }
