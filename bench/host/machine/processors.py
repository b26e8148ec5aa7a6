"""Chooses processors to bind workers to, and reads their frequencies."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")
SYSTEM = Path("/sys/devices/system/cpu")


def frequencies_mhz(numbers: Iterable[int]) -> list[float]:
    """Read the present frequencies of processors; empty where the machine does not give them, as most virtual ones."""
    found = []
    for number in numbers:
        try:
            found.append(int((SYSTEM / f"cpu{number}" / "cpufreq" / "scaling_cur_freq").read_text()) / 1e3)
        except (OSError, ValueError):
            continue
    return found


def physical_cores() -> int:
    """Count the physical cores behind the processors that this process may run on; at least 1."""
    return len(cores()) or 1


def chosen(count: int) -> tuple[int, ...]:
    """Choose ``count`` processors to bind workers to: one of each core first, the last cores first.

    The first core serves most interrupts. Siblings share a core only when there are fewer cores than ``count``.
    """
    sets = list(reversed(cores()))
    deepest = max(map(len, sets), default=0)
    order = [members[depth] for depth in range(deepest) for members in sets if depth < len(members)]
    return tuple(sorted(order[:count]))


def shares(count: int) -> list[tuple[int, ...]]:
    """Divide the processors into shares of ``count``; those of a core stay together. What is left over is in none."""
    numbers = [number for core in cores() for number in core]
    return [tuple(numbers[first : first + count]) for first in range(0, len(numbers) - count + 1, count)]


def beside(bound: Sequence[int]) -> tuple[int, ...]:
    """Choose as many processors that are like those ``bound``, on other cores; empty where there are too few.

    "Like": with the same speed and the same NUMA node, as far as the machine gives these.
    """
    kinds = {_kind(number) for number in bound}
    free = [core for core in reversed(cores()) if not set(core) & set(bound)]
    like = [core[0] for core in free if _kind(core[0]) in kinds]
    return tuple(sorted(like[: len(bound)])) if len(kinds) == 1 and len(like) >= len(bound) else ()


def _kind(number: int) -> tuple[object, ...]:
    """Return the NUMA node and the speed of a processor."""
    own = SYSTEM / f"cpu{number}"
    told = []
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        with contextlib.suppress(OSError):
            told.append((name, (own / name).read_text().strip()))
    return (tuple(sorted(path.name for path in own.glob("node[0-9]*"))), *told)


def available() -> set[int]:
    """Return the numbers of the processors that this process may run on; all of them where the system does not say."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def cores() -> list[list[int]]:
    """Group the processors that this process may run on by physical core, in the order of their numbers.

    Without a list of cores from the kernel, each processor counts as one.
    """
    allowed = available()
    try:
        text = CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    found: dict[tuple[str | None, str], list[int]] = {}
    for block in text.split("\n\n"):
        fields = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in block.splitlines())}
        if "core id" in fields and fields.get("processor", "").isdigit() and int(fields["processor"]) in allowed:
            found.setdefault((fields.get("physical id"), fields["core id"]), []).append(int(fields["processor"]))
    return sorted(found.values()) or [[number] for number in sorted(allowed)]
