"""Compares what a worker says about time with the host's own clock: a worker runs other people's code.

A worker takes its samples between the request of the host and its answer. Samples that took longer than that, and a
clock that runs at another speed, are refused.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence

#: Two clocks of one machine may differ by this share, and readings of them by this time.
SHARE = 0.002
READING_NS = 1_000_000


class Unbelievable(ValueError):
    """What the worker says contradicts the host's clock; the message says how."""


class HostClock:
    """The times of the requests to one worker, by the host's clock."""

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns, processors: int | None = None) -> None:
        """``processors`` is the number of processors of the machine."""
        self._clock = clock
        self._processors = processors or os.cpu_count() or 1
        self._sent = self._received = 0
        #: The first reading of the worker's clock, and the times between which it was made.
        self._first: tuple[int, int, int] | None = None

    def sent(self) -> None:
        """Note that a request is about to be sent."""
        self._sent = self._clock()

    def received(self) -> None:
        """Note that its answer has come."""
        self._received = self._clock()

    @property
    def seen_ns(self) -> int:
        """The nanoseconds between the last request and its answer."""
        return self._received - self._sent

    def verify(self, taken: Mapping[str, Sequence[int]], samples: int, clock_ns: int | None) -> None:
        """Raise Unbelievable unless the samples of the last turn fit between its request and its answer.

        ``samples`` is how many were asked for; ``clock_ns`` is what the clock of the worker said at the end of the
        turn, None where that is not known.
        """
        if len(taken["sample_ns"]) != samples:
            raise Unbelievable(f"{samples} samples were asked for, the worker sent {len(taken['sample_ns'])}")
        seen_ns = self.seen_ns
        most_ns = seen_ns * (1 + SHARE) + READING_NS
        told_ns = sum(taken["sample_ns"])
        if told_ns > most_ns:
            raise Unbelievable(
                f"the worker timed {told_ns / 1e9:.6g} s in a turn that took {seen_ns / 1e9:.6g} s by the host's clock"
            )
        cpu_ns = sum(taken["sample_cpu_ns"])
        if cpu_ns > self._processors * (most_ns + 10 * READING_NS):
            raise Unbelievable(
                f"the worker used {cpu_ns / 1e9:.6g} s of processors in a turn that took {seen_ns / 1e9:.6g} s on a "
                f"machine with {self._processors}"
            )
        if clock_ns is not None:
            self._verify_speed(clock_ns)

    def _verify_speed(self, clock_ns: int) -> None:
        """Compare how far the two clocks went since the first turn; each reading was made within its turn."""
        if self._first is None:
            self._first = (clock_ns, self._sent, self._received)
            return
        first_ns, sent, received = self._first
        told = clock_ns - first_ns
        least, most = self._sent - received, self._received - sent
        if not least * (1 - SHARE) - READING_NS <= told <= most * (1 + SHARE) + READING_NS:
            raise Unbelievable(
                f"the worker's clock went {told / 1e9:.6g} s while the host's went {least / 1e9:.6g} to "
                f"{most / 1e9:.6g} s: its times cannot be used"
            )
