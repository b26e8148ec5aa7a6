"""Runs workers that are forked from a process, the parent, that has imported their framework: see bench.worker.parent.

The parent runs as a process or in a container; this module needs its pipe only.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from bench.record import FAILED, TIMEOUT

from .protocol import Ended, Lines, receive, tail
from .worker_process import end_of, oom_kills

#: Seconds in which a parent that is alive stops a worker, or notices its end.
STOPPING_S = 10.0
#: A worker exits within this time after the end of its input, and within the other after it was killed. One that hangs
#: in a driver cannot be killed; the study goes on without waiting for it.
CLOSING_S, KILLING_S = 5.0, 30.0


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

    def __init__(self, connection: Connection, framework: str, locate: Callable[[int, int], int | None]) -> None:
        """``locate`` returns the machine's number of a process, given that of the connection and the parent's own."""
        self._connection = connection
        self._locate = locate
        self._workers: dict[int, ForkedWorker] = {}
        self._buffer = b""
        self._preloaded: set[str] = set()
        #: How it ended; None while it lives.
        self.ended: Ended | None = None
        self._imported = False
        #: False where other imports may have shared the processors.
        self.import_alone = True
        self.request(0, do="import", framework=framework)

    def preload(self, modules: Sequence[str], timeout_s: float) -> None:
        """Let it import further modules, and wait for that."""
        if set(modules) - self._preloaded:
            self.request(0, do="preload", modules=list(modules))
            self._await(lambda: set(modules) <= self._preloaded, timeout_s)

    def fork(
        self, *, log: Path, processors: Sequence[int], layout: int | None, variables: Mapping[str, str]
    ) -> ForkedWorker:
        """Let it fork a worker; its output goes to ``log``, ``variables`` are added to those of the parent."""
        number = 1 + max(self._workers, default=0)
        made = self._workers[number] = ForkedWorker(self, number, log)
        self.request(0, do="fork", worker=number, processors=list(processors), layout=layout, variables=dict(variables))
        return made

    def request(self, number: int, **request: Any) -> None:
        """Send a request to a worker, or to the parent itself, which is number 0."""
        if self.ended is None:
            self._connection.write(f"{number} {json.dumps(request)}\n".encode())

    def await_import(self, timeout_s: float) -> None:
        """Wait until it has imported or has ended; end it when that takes too long."""
        self._await(lambda: self._imported, timeout_s)

    def _await(self, done: Callable[[], bool], timeout_s: float) -> None:
        if not self.wait_for(done, timeout_s) and self.ended is None:
            self.kill(Ended(TIMEOUT, self.stage, f"no answer within {timeout_s:g} s{tail(self._connection.log)}"))

    def wait_for(self, done: Callable[[], bool], timeout_s: float) -> bool:
        """Receive until something is so; return False where that is not reached in time, or never will."""
        deadline = time.monotonic() + timeout_s
        while not done():
            if self.ended is not None or not self.receive(deadline - time.monotonic()):
                return done()
        return True

    def receive(self, left_s: float) -> bool:
        """Wait for a piece from the parent and hand it to whom it is for; return False when none came in time."""
        piece = self._connection.read(left_s) if left_s > 0 else None
        if piece is None:
            return False
        if not piece:
            self.ended = self._connection.find_end()
            return True
        self._buffer += piece
        while b"\n" in self._buffer:
            header, _, rest = self._buffer.partition(b"\n")
            number, kind, length = header.split()
            if len(rest) < int(length):
                break
            self._buffer = rest[int(length) :]
            self._hand_out(int(number), kind, rest[: int(length)])
        return True

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
                self._workers[message["worker"]].paused = True

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


class ForkedWorker:
    """One worker of a parent; it lives no longer than the parent."""

    def __init__(self, parent: Parent, number: int, log: Path) -> None:
        self.stage = "start"
        self.log = log
        #: Its process where the parent runs, once it was forked.
        self.inner_process: int | None = None
        #: Negative for a signal; None while it lives.
        self.exit_code: int | None = None
        self.paused = False
        self._process_id: int | None = None
        self._parent = parent
        self._number = number
        self._said: deque[bytes] = deque()
        self._lines = Lines(self._read)
        self._oom_kills = oom_kills()
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log.open("wb", buffering=0)

    @property
    def process_id(self) -> int | None:
        """The id of its process on this machine, which is also the id of its session; None before it was forked."""
        if self._process_id is None and self.inner_process is not None:
            self._process_id = self._parent.process_id(self.inner_process)
        return self._process_id

    @property
    def import_alone(self) -> bool:
        return self._parent.import_alone

    def send(self, **request: Any) -> None:
        """Send a request. If the worker has ended, ``receive`` raises Ended."""
        self._parent.request(self._number, **request)

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the answer to a request. Raises Ended."""
        return receive(self, timeout_s)

    def line(self, deadline: float) -> bytes | None:
        """Read one line; None at the deadline, b"" at the end."""
        return self._lines.next(deadline)

    def _read(self, left_s: float) -> bytes | None:
        deadline = time.monotonic() + left_s
        while not self._said:
            if self._is_over():
                return b""
            if not self._parent.receive(deadline - time.monotonic()):
                return None
        return self._said.popleft()

    def take(self, kind: bytes, data: bytes) -> None:
        """Take what the parent passed on: a piece of the messages or of the log, or the exit code."""
        if kind == b"m":
            self._said.append(data)
        elif kind == b"x":
            self.exit_code = int(data)
            self.end_log()
        elif not self._log.closed:
            self._log.write(data)

    def end_log(self) -> None:
        self._log.close()

    def _is_over(self) -> bool:
        return self.exit_code is not None or self._parent.ended is not None

    def find_end(self) -> Ended:
        """Return how the worker ended, after the end of its messages."""
        if self.exit_code is not None:
            return end_of(self.exit_code, self.stage, tail(self.log), kernel_killed=oom_kills() > self._oom_kills)
        ended = self._parent.ended
        assert ended is not None
        self.end_log()
        if self.inner_process is None:
            return Ended(ended.status, ended.stage, ended.reason)
        reason = f"the process that it was forked from ended: {ended.reason}"
        return Ended(ended.status, self.stage, reason)

    def pause(self) -> None:
        """Stop the process and those that it started; return when they are stopped."""
        if not self._is_over():
            self._parent.request(0, do="pause", worker=self._number)
            self._parent.wait_for(lambda: self.paused or self._is_over(), STOPPING_S)

    def resume(self) -> None:
        if self.paused:
            self.paused = False
            self._parent.request(0, do="resume", worker=self._number)

    def close(self) -> None:
        """Close its input, wait some seconds for it to end, and kill it if it does not."""
        if not self._is_over():
            self.resume()
            self._parent.request(0, do="end", worker=self._number)
            self._parent.wait_for(self._is_over, CLOSING_S)
        self.kill()

    def kill(self) -> None:
        """Kill the process and those that it started."""
        if self._is_over():
            return
        self._parent.request(0, do="kill", worker=self._number)
        if not self._parent.wait_for(self._is_over, KILLING_S):
            self._parent.kill(Ended(FAILED, self.stage, "it did not kill a worker"))
