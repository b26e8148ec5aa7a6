"""Knows how many physical processor cores this process may use."""

from __future__ import annotations

import os
from pathlib import Path


def physical_cores(cpuinfo: Path = Path("/proc/cpuinfo"), allowed: set[int] | None = None) -> int:
    """Count the physical cores behind the processors that this process may run on; at least 1.

    ``allowed`` are the numbers of those processors, by default what the scheduler says. Where the kernel does not tell
    which processors share a core, every processor counts.
    """
    if allowed is None:
        allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    cores = set()
    for block in text.split("\n\n"):
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in block.splitlines())}
        if "core id" in fields and fields.get("processor", "").isdigit() and int(fields["processor"]) in allowed:
            cores.add((fields.get("physical id"), fields["core id"]))
    return len(cores) or len(allowed) or 1
