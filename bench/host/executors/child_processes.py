"""Counts what the processes that a worker started compute and hold: they belong to the cell.

They are stopped whenever their worker is, so what they compute, they compute in its turns. Whoever stops them looks
through all threads of the worker for what it started; where that was nothing, nobody looks a second time.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from bench.worker import family

from ..machine import facts
from ..workers.protocol import Transport
from .host_clock import Unbelievable

#: A process that left the worker's session may compute for this share of a turn, or this long.
STRAY_SHARE, STRAY_NS = 0.01, 1_000_000


class ChildProcesses:
    """The processes below one worker: its children, and theirs."""

    def __init__(self) -> None:
        #: The most that there were after a turn.
        self.most = 0
        self._transport: Transport | None = None
        self._worker: int | None = None
        self._used_ns: dict[int, int] = {}
        self._most_bytes = 0

    def begin(self, worker: Transport) -> None:
        """Begin with the transport of a worker that is about to take turns."""
        self._transport = worker
        self._worker = worker.process_id
        if self._worker is not None and worker.has_init:
            # The first process of a container only waits for the worker, which it started first.
            self._worker = next(iter(family.children(self._worker)), None)
        self._used_ns = self._read()

    def add(self, taken: dict[str, list[int]], turn_ns: int) -> None:
        """Add to the CPU times of a turn's samples what these processes used; the turn lasted ``turn_ns``.

        Raises Unbelievable for a process that left the session of its worker and computed: a program that hides it is
        not measured.
        """
        now = self._read()
        used = {process: ns - self._used_ns.get(process, 0) for process, ns in now.items()}
        self._used_ns = now
        if not used:
            return
        self.most = max(self.most, len(used))
        self._most_bytes = max(self._most_bytes, sum(map(facts.peak_bytes, used)))
        strays = [process for process in used if used[process] > max(STRAY_NS, STRAY_SHARE * turn_ns)]
        for process in strays:
            if _session(process) not in (self._worker, None):
                raise Unbelievable(
                    f"process {process} ({_name(process)}), which left the session of the worker, computed for "
                    f"{used[process] / 1e9:.2g} s of a turn of {turn_ns / 1e9:.2g} s"
                )
        # Untimed steps are part of the turn, too.
        for index, ns in enumerate(taken["sample_ns"]):
            taken["sample_cpu_ns"][index] += int(sum(used.values()) * ns / max(1, turn_ns))

    def with_memory(self, memory: dict[str, int]) -> dict[str, int]:
        """Return the memory of the worker with that of its children, which is part of the peak."""
        if not self._most_bytes:
            return memory
        peak = memory.get("peak_bytes", 0) + self._most_bytes
        return {**memory, "peak_bytes": peak, "other_processes_bytes": self._most_bytes}

    def _read(self) -> dict[int, int]:
        """Return the CPU time of every process below the worker, in nanoseconds."""
        found: dict[int, int] = {}
        if self._transport is not None and self._transport.others == 0:
            return found
        for process in family.descendants(self._worker) if self._worker is not None else ():
            # The clock of a process, see clock_getcpuclockid(3).
            with contextlib.suppress(OSError):
                found[process] = time.clock_gettime_ns((~process << 3) | 2)
        return found


def _session(process: int) -> int | None:
    try:
        return os.getsid(process)
    except OSError:
        return None


def _name(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text(errors="replace").strip()
    except OSError:
        return "it has ended"
