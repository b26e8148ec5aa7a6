"""Runs a parent, a process that has imported a framework and forks workers: see bench.worker.parent.

It runs as a process or in a container; this module needs its pipe only.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from bench.record import FAILED, TIMEOUT

from .forked_worker import ForkedWorker
from .protocol import Ended, tail

#: A parent passes on pieces of this length at most; see bench.worker.parent.
PIECE_BYTES = 1 << 16
LONGEST_HEADER_BYTES = 64


class Connection(Protocol):
    """The process or container that a parent runs in."""

    stage: str
    log: Path

    @property
    def process_id(self) -> int | None: ...
    def write(self, data: bytes) -> None: ...
    def read(self, left_s: float) -> bytes | None: ...
    def find_end(self) -> Ended: ...
    def close(self) -> None: ...
    def kill(self) -> None: ...


class Parent:
    """A process that imports a framework and then forks workers."""

    def __init__(
        self,
        connection: Connection,
        framework: str,
        locate: Callable[[int, int], int | None],
        *,
        versions: Mapping[str, str] = MappingProxyType({}),
        lost_a_process: Callable[[int], bool] = lambda before: False,
    ) -> None:
        """Let the process at the other end of ``connection`` import ``framework``.

        ``locate`` returns the machine's number of a process, given that of the connection and the one that the process
        has where the parent runs. ``versions`` are added to those of the workers. ``lost_a_process`` returns whether
        the kernel killed a process there for lack of memory, given how many it had killed on the machine before.
        """
        self._connection = connection
        self._locate = locate
        self.versions = versions
        self.lost_a_process = lost_a_process
        self._workers: dict[int, ForkedWorker] = {}
        self._buffer = b""
        self._preloaded: set[str] = set()
        #: How it ended; None while it lives.
        self.ended: Ended | None = None
        self._imported = False
        #: False where other imports may have shared the processors.
        self.import_alone = True
        self.request(do="import", framework=framework)

    def preload(self, modules: Sequence[str], timeout_s: float) -> None:
        """Let it import further modules, and wait for that."""
        if set(modules) - self._preloaded:
            self.request(do="preload", modules=list(modules))
            self._await(lambda: set(modules) <= self._preloaded, timeout_s)

    def fork(
        self, *, log: Path, processors: Sequence[int], layout: int | None, variables: Mapping[str, str]
    ) -> ForkedWorker:
        """Let it fork a worker; its output goes to ``log``, ``variables`` are added to those of the parent."""
        number = 1 + max(self._workers, default=0)
        made = self._workers[number] = ForkedWorker(self, number, log)
        self.request(do="fork", worker=number, processors=list(processors), layout=layout, variables=dict(variables))
        return made

    def request(self, **request: Any) -> None:
        """Send a request to the parent itself, which is number 0."""
        self.write(0, json.dumps(request).encode() + b"\n")

    def write(self, number: int, line: bytes) -> None:
        """Send a line to a worker."""
        if self.ended is None:
            self._connection.write(b"%d %s" % (number, line))

    def await_import(self, timeout_s: float) -> None:
        """Wait until it has imported or has ended; end it when that takes too long."""
        self._await(lambda: self._imported, timeout_s)

    def _await(self, done: Callable[[], bool], timeout_s: float) -> None:
        if not self.wait_for(done, timeout_s) and self.ended is None:
            self.kill(Ended(TIMEOUT, self.stage, f"no answer within {timeout_s:g} s{tail(self._connection.log)}"))

    def wait_for(self, done: Callable[[], bool], timeout_s: float) -> bool:
        """Receive until something is so; return False where that is not reached in time, or never will."""
        deadline, in_time = time.monotonic() + timeout_s, True
        while not done():
            if self.ended is not None or not in_time:
                return False
            left = deadline - time.monotonic()
            in_time = self.receive(left) and left > 0
        return True

    def receive(self, left_s: float) -> bool:
        """Wait for a piece from the parent and hand it to whom it is for; return False when none came in time.

        Without time left, hand out what has arrived.
        """
        piece = self._connection.read(max(0.0, left_s))
        if piece is None:
            return False
        if not piece:
            self.ended = self._connection.find_end()
            return True
        self._buffer += piece
        try:
            self._hand_out_all()
        except (ValueError, KeyError, TypeError):
            self.kill(Ended(FAILED, self.stage, f"{self._buffer[:80]!r} is no piece of what workers say"))
        return True

    def _hand_out_all(self) -> None:
        """Hand out all pieces that have arrived whole. Raises ValueError, KeyError, TypeError for anything else."""
        while b"\n" in self._buffer or len(self._buffer) > LONGEST_HEADER_BYTES:
            header, _, rest = self._buffer.partition(b"\n")
            number, kind, length = header.split()
            if not 0 <= int(length) <= PIECE_BYTES:
                raise ValueError(length)
            if len(rest) < int(length):
                break
            self._hand_out(int(number), kind, rest[: int(length)])
            self._buffer = rest[int(length) :]

    def _hand_out(self, number: int, kind: bytes, data: bytes) -> None:
        if number:
            self._workers[number].take(kind, data)
            return
        message = json.loads(data)
        match message["event"]:
            case "stage":
                self._connection.stage = message["stage"]
            case "preloaded":
                self._preloaded |= set(message["asked"])
            case "imported":
                self._imported = True
            case "forked":
                self._workers[message["worker"]].inner_process = message["process"]
            case "paused":
                self._workers[message["worker"]].note_pause(message["others"])

    @property
    def stage(self) -> str:
        return self._connection.stage

    def process_id(self, inner: int) -> int | None:
        """Return this machine's number of a process that has the number ``inner`` where the parent runs."""
        outer = self._connection.process_id
        return None if outer is None else self._locate(outer, inner)

    def close(self) -> None:
        """End the parent and all of its workers."""
        if self.ended is None:
            # An import does not notice that the pipe was closed.
            self._connection.close() if self._imported else self._connection.kill()
            self.ended = Ended(FAILED, self.stage, "it was closed")
        for worker in self._workers.values():
            worker.end_log()

    def kill(self, reason: Ended) -> None:
        """Kill the parent, and with it its workers, which report the ``reason``."""
        if self.ended is None:
            self._connection.kill()
            self.ended = reason
