"""Knows how much of the processors others had while some processes took turns: what was busy, less what they used."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: /proc/stat samples what a processor does at every tick: as with any count, its error is about its square root.
ERRORS = 1.5


@dataclass(frozen=True)
class Reading:
    """What had been counted at one moment, in seconds."""

    clock_s: float
    #: Busy seconds of the processors together.
    busy_s: float
    #: Of each process that was asked about, with its children, and of this one alone.
    own_s: dict[int, float]


class OtherLoad:
    """Reads what the kernel counts of processors and processes."""

    def __init__(self, processors: Sequence[int], proc: Path = Path("/proc")) -> None:
        """``processors`` are those that are bound; without any, all count."""
        self._names = {f"cpu{number}" for number in processors}
        self._proc = proc
        self._tick_s = 1.0 / os.sysconf("SC_CLK_TCK")

    def read(self, processes: Iterable[int]) -> Reading | None:
        """Read the counts of the processors, of ``processes`` and of this one; None where the kernel does not tell."""
        try:
            busy = [_busy_ticks(line) for line in self._lines()]
            own = {process: self._family_ticks(process) * self._tick_s for process in processes}
            own[os.getpid()] = sum(self._ticks(os.getpid())[:2]) * self._tick_s
        except (OSError, ValueError, IndexError):
            return None
        return Reading(time.monotonic(), sum(busy) * self._tick_s, own) if busy else None

    def since(self, before: Reading | None, now: Reading | None) -> float | None:
        """Return how many processors' worth of time others had at least, on average, between two readings.

        At least: the error of the counts is taken off. None where somebody who was there is gone, and what he used with
        him.
        """
        if before is None or now is None or before.own_s.keys() != now.own_s.keys() or now.clock_s <= before.clock_s:
            return None
        busy = now.busy_s - before.busy_s
        own = sum(now.own_s[process] - used for process, used in before.own_s.items())
        error = ERRORS * math.sqrt(max(0.0, busy) * self._tick_s)
        return max(0.0, busy - own - error) / (now.clock_s - before.clock_s)

    def _lines(self) -> list[list[str]]:
        lines = [line.split() for line in (self._proc / "stat").read_text().splitlines()]
        each = [fields for fields in lines if fields and fields[0].startswith("cpu") and fields[0] != "cpu"]
        return [fields for fields in each if fields[0] in self._names] if self._names else each

    def _family_ticks(self, process: int) -> int:
        """Add up what a process used, its children, and those that have ended; a container's first one only waits."""
        children = (self._proc / str(process) / "task" / str(process) / "children").read_text().split()
        return sum(self._ticks(process)) + sum(self._family_ticks(int(child)) for child in children)

    def _ticks(self, process: int) -> list[int]:
        """Return the user and system time of a process, and those of its children that have ended."""
        # The name, in parentheses, may hold anything.
        fields = (self._proc / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return [int(field) for field in fields[11:15]]


def _busy_ticks(fields: Sequence[str]) -> int:
    """Add up what a processor did for processes and interrupts: neither idle, nor waiting for a disk, nor stolen."""
    user, nice, system, _, _, interrupts, soft = map(int, fields[1:8])
    return user + nice + system + interrupts + soft
