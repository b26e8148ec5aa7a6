"""Knows for how long this process was ready to compute but had to wait for a processor.

Linux counts it for every thread (Documentation/scheduler/sched-stats.rst); what a hypervisor takes from the processors
comes on top. Reading costs about 10 us a thread, so it belongs between the samples, never into them.
"""

from __future__ import annotations

import os
from typing import Dict, Iterable, Optional


class Waiting:
    """Tells the nanoseconds of waiting since it was last asked; None where the kernel does not tell."""

    def __init__(self, processors: Iterable[int], proc: str = "/proc") -> None:
        """``processors`` are those that the process is bound to."""
        self._threads = proc + "/self/task"
        self._stat = proc + "/stat"
        self._tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        self._waited: Dict[str, int] = {}
        self.watch(processors)

    def watch(self, processors: Iterable[int]) -> None:
        """Go on with other processors."""
        self._names = {b"cpu%d" % number for number in processors}
        # Without a hypervisor nothing was ever stolen, and looking again would be wasted.
        self._stolen: Optional[int] = self._steal_ticks() or None

    def __call__(self) -> Optional[int]:
        try:
            now = self._thread_ns()
        except OSError:
            return None
        # A thread that is gone takes its last moments with it; a new one has waited since it began.
        total = sum(max(0, ns - self._waited.get(thread, 0)) for thread, ns in now.items())
        self._waited = now
        if self._stolen is not None:
            stolen = self._steal_ticks()
            total += max(0, stolen - self._stolen) * self._tick_ns
            self._stolen = stolen
        return total

    def _thread_ns(self) -> Dict[str, int]:
        """Read the waiting of every thread since it began; raises OSError where nobody counts."""
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
                # "nanoseconds on a processor, nanoseconds ready and waiting, times"
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
        """Read the ticks that a hypervisor took from the processors since the machine started."""
        try:
            with open(self._stat, "rb") as stat:
                lines = [line.split() for line in stat if line.startswith(b"cpu")]
        except OSError:
            return 0
        return sum(int(fields[8]) for fields in lines if len(fields) > 8 and fields[0] in self._names)
