"""Receives the messages of a worker: lines of JSON, within a timeout for each stage, over any transport.

A worker that crashes, hangs or sends something else ends with the exception ``Ended``: a status, a stage, a reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from bench.record import FAILED, TIMEOUT

from . import log_limit, messages
from .field_types import Malformed
from .messages import LONGEST_MESSAGE_BYTES

#: How much of the end of a log becomes part of a reason.
TAIL_LINES = 3
TAIL_BYTES = 8192


class Ended(Exception):
    """A worker ended; holds the status, the stage and the reason."""

    def __init__(self, status: str, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.stage = stage
        self.reason = reason


class Transport(Protocol):
    """Carries requests to a worker and answers back: a process with pipes, or a container."""

    #: The stage that the worker announced last.
    stage: str
    #: Whether its process only starts the worker, and waits.
    has_init: bool

    @property
    def others(self) -> int | None:
        """How many processes were stopped with it last; None where nobody counts them."""

    @property
    def process_id(self) -> int | None:
        """The id of its process on this machine; None where there is none."""

    @property
    def import_alone(self) -> bool | None:
        """Whether nothing else computed while the parent imported; None where the worker imports itself."""

    def send(self, **request: Any) -> None: ...
    def receive(self, timeout_s: float) -> dict[str, Any]: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...

    def end_input(self) -> None:
        """Let it end by itself, and wait for nothing; ``close`` must follow."""

    def close(self) -> None:
        """End its input if that has not been done, wait some seconds for its end, and kill it if it does not come."""

    def kill(self) -> None: ...


class MessageSource(Protocol):
    """The part of a worker that ``receive`` uses."""

    stage: str
    log: Path

    def line(self, deadline: float) -> bytes | None: ...
    def find_end(self) -> Ended: ...
    def close(self) -> None: ...
    def kill(self) -> None: ...


class Lines:
    """Joins the pieces in which lines arrive."""

    def __init__(self, read: Callable[[float], bytes | None]) -> None:
        """``read`` waits at most the given seconds for a piece; it returns None without one, and b"" at the end."""
        self._read = read
        self._pending = b""

    def next(self, deadline: float) -> bytes | None:
        """Return one line; None at the deadline, b"" at the end. After the deadline, return what has arrived."""
        while b"\n" not in self._pending:
            piece = self._read(max(0.0, deadline - time.monotonic()))
            if piece is None:
                return None
            if not piece or len(self._pending) > LONGEST_MESSAGE_BYTES:
                return b"" if not piece else self._pending
            self._pending += piece
        line, self._pending = self._pending.split(b"\n", 1)
        return line + b"\n"


def receive(worker: MessageSource, timeout_s: float) -> dict[str, Any]:
    """Wait for the answer to a request, and follow the stages of the worker.

    Raises Ended when the worker dies, reports an end, says nothing for ``timeout_s`` seconds in one stage, or talks
    nonsense.
    """
    deadline = time.monotonic() + timeout_s
    stages = 0
    while stages <= messages.MOST_STAGES:
        line = _next_line(worker, deadline)
        if line is None:
            worker.kill()
            raise Ended(TIMEOUT, worker.stage, f"no answer within {timeout_s:g} s{tail(worker.log)}")
        if not line:
            raise worker.find_end()
        try:
            message = messages.parse(line)
        except Malformed as error:
            raise refused(worker, error) from None
        event = message["event"]
        stages += event in ("started", "stage")
        if event == "stage":
            worker.stage = message["stage"]
            deadline = time.monotonic() + timeout_s
        elif event == "ended":
            worker.close()
            raise Ended(message["status"], message["stage"], messages.cut(message["reason"]))
        elif event != "started":
            return message
    raise refused(worker, f"more than {messages.MOST_STAGES} stages before an answer")


def _next_line(worker: MessageSource, deadline: float) -> bytes | None:
    """Read one line, and limit the log meanwhile; None at the deadline, b"" at the end."""
    # While the host itself was stopped, the deadline may pass and a line arrive: only a look after it is the last one.
    while True:
        now = time.monotonic()
        line = worker.line(min(deadline, now + log_limit.INTERVAL_S))
        if not getattr(worker, "limits_log", False):
            log_limit.limit(worker.log)
        if line is not None or now >= deadline:
            return line


def ask(worker: Transport, timeout_s: float, **request: Any) -> dict[str, Any]:
    """Send a request and return its answer. Raises Ended, also for the answer to another request."""
    worker.send(**request)
    answer = worker.receive(timeout_s)
    try:
        messages.expect(answer, request["do"])
    except Malformed as error:
        worker.kill()
        raise Ended(FAILED, worker.stage, f"the worker sent {error}") from None
    return answer


def refused(worker: MessageSource, why: Malformed | str) -> Ended:
    """Kill a worker that sent what it must not send; return how the cell ended."""
    worker.kill()
    return Ended(FAILED, worker.stage, f"the worker sent {why}")


def tail(log: Path) -> str:
    """Return the last lines of a log, to append to a reason."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return ": " + " | ".join(said[-TAIL_LINES:]) if said else ""
