"""Reads how long this process was ready to compute but waited for a processor.

Linux counts this time for every thread (Documentation/scheduler/sched-stats.rst). The time that a hypervisor took from
the processors is added. Reading takes about 10 us per thread, so it happens between samples, never within one.
"""

from __future__ import annotations

import os
from typing import Dict, Iterable, Optional


class Waiting:
    """Called, returns the nanoseconds of waiting since the last call; None where the kernel does not count them."""

    def __init__(self, processors: Iterable[int], proc: str = "/proc") -> None:
        """``processors`` are those the process is bound to."""
        self._threads = proc + "/self/task"
        self._stat = proc + "/stat"
        self._tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        self._waited: Dict[str, int] = {}
        self.watch(processors)

    def watch(self, processors: Iterable[int]) -> None:
        """Count the time taken from ``processors`` from now on."""
        self._names = {b"cpu%d" % number for number in processors}
        # Where no time was ever taken there is no hypervisor, and later readings are skipped.
        self._stolen: Optional[int] = self._steal_ticks() or None

    def __call__(self) -> Optional[int]:
        try:
            now = self._thread_ns()
        except OSError:
            return None
        # The last moments of an exited thread are lost; a new thread counts from its start.
        total = sum(max(0, ns - self._waited.get(thread, 0)) for thread, ns in now.items())
        self._waited = now
        if self._stolen is not None:
            stolen = self._steal_ticks()
            total += max(0, stolen - self._stolen) * self._tick_ns
            self._stolen = stolen
        return total

    def _thread_ns(self) -> Dict[str, int]:
        """Read how long every thread has waited since its start. Raises OSError where the kernel does not count."""
        found = {}
        ran = False
        missing: Optional[OSError] = None
        for thread in os.listdir(self._threads):
            try:
                descriptor = os.open("{}/{}/schedstat".format(self._threads, thread), os.O_RDONLY)
            except OSError as error:
                missing = error
                continue
            try:
                # Fields: nanoseconds on a processor, nanoseconds ready and waiting, number of time slices.
                on, ready = os.read(descriptor, 128).split()[:2]
            except ProcessLookupError:
                continue
            finally:
                os.close(descriptor)
            found[thread] = int(ready)
            ran = ran or int(on) > 0
        if not ran:
            # A kernel that does not count writes zeros, or has no such file.
            raise missing or OSError("no thread has ever run")
        return found

    def _steal_ticks(self) -> int:
        """Read the clock ticks that a hypervisor took from the processors since the machine started."""
        try:
            with open(self._stat, "rb") as stat:
                lines = [line.split() for line in stat if line.startswith(b"cpu")]
        except OSError:
            return 0
        return sum(int(fields[8]) for fields in lines if len(fields) > 8 and fields[0] in self._names)
