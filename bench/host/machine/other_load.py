"""Measures how much other processes computed meanwhile: the busy time of the processors minus that of our processes."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: /proc/stat samples the state of a processor at every tick. The error of such a count is about its square root.
ERRORS = 1.5


@dataclass(frozen=True)
class CpuTimes:
    """The CPU times that the kernel had counted at one moment, in seconds."""

    clock_s: float
    #: Busy seconds of the processors together.
    busy_s: float
    #: {process: its time with that of its children}; of this process, the time without children.
    own_s: dict[int, float]


class OtherLoad:
    """Reads the CPU times of processors and processes."""

    def __init__(self, processors: Sequence[int], proc: Path = Path("/proc")) -> None:
        """``processors`` are those that workers are bound to; without any, all count."""
        self._names = {f"cpu{number}" for number in processors}
        self._proc = proc
        self._tick_s = 1.0 / os.sysconf("SC_CLK_TCK")

    def read(self, processes: Iterable[int]) -> CpuTimes | None:
        """Read the times of the processors, of ``processes`` and of this one; None where they are unknown."""
        try:
            busy = [_busy_ticks(line) for line in self._lines()]
            own = {process: self._family_ticks(process) * self._tick_s for process in processes}
            own[os.getpid()] = sum(self._ticks(os.getpid())[:2]) * self._tick_s
        except (OSError, ValueError, IndexError):
            return None
        return CpuTimes(time.monotonic(), sum(busy) * self._tick_s, own) if busy else None

    def since(self, before: CpuTimes | None, now: CpuTimes | None) -> float | None:
        """Return how many processors other processes used at least, on average, between two readings.

        "At least": the error of the counts is subtracted. None where a measured process exited: its CPU time is then
        unknown.
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
        """Add up the times of a process and its children. In a container, the first process only waits."""
        threads = (self._proc / str(process) / "task").iterdir()
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
        return sum(self._ticks(process)) + sum(self._family_ticks(int(child)) for child in children)

    def _ticks(self, process: int) -> list[int]:
        """Return the user and system time of a process, and those of its children that have ended."""
        # The name, in parentheses, can contain any character.
        fields = (self._proc / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        return [int(field) for field in fields[11:15]]


def _busy_ticks(fields: Sequence[str]) -> int:
    """Add up the ticks for processes and interrupts, without those that were idle, waiting for a disk, or stolen."""
    user, nice, system, _, _, interrupts, soft = map(int, fields[1:8])
    return user + nice + system + interrupts + soft
