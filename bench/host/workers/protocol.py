"""Knows how the host listens to a worker, whatever carries the messages: JSON lines, within a time-out for each stage.

Nothing here raises for what a worker does; a worker that crashes, hangs or misbehaves ends with ``Ended``: a status,
a stage, a reason.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from bench.record import FAILED, TIMEOUT

#: How much of a log's end belongs into a reason.
TAIL_LINES = 3
TAIL_BYTES = 8192
#: The worker announces its stages by itself; a worker that sends garbage without end is cut off here.
LONGEST_MESSAGE_BYTES = 64 << 20


class Ended(Exception):
    """The worker is no more; says with which status, in which stage and why."""

    def __init__(self, status: str, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.stage = stage
        self.reason = reason


class Transport(Protocol):
    """Carries requests to a worker and answers back: a process with pipes, or a container."""

    def send(self, **request: Any) -> None: ...
    def receive(self, timeout_s: float) -> dict[str, Any]: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def close(self) -> None: ...
    def kill(self) -> None: ...


class Speaker(Protocol):
    """What listening needs of a worker."""

    stage: str
    log: Path

    def line(self, deadline: float) -> bytes | None: ...
    def death(self) -> Ended: ...
    def close(self) -> None: ...
    def kill(self) -> None: ...


class Lines:
    """Lines out of the pieces in which they arrive."""

    def __init__(self, read: Callable[[float], bytes | None]) -> None:
        """``read`` waits so many seconds for a piece: None when there was none, empty at the end."""
        self._read = read
        self._pending = b""

    def next(self, deadline: float) -> bytes | None:
        """Return one line; None at the deadline, empty at the end."""
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            piece = self._read(left) if left > 0 else None
            if piece is None:
                return None
            if not piece or len(self._pending) > LONGEST_MESSAGE_BYTES:
                return b"" if not piece else self._pending
            self._pending += piece
        line, self._pending = self._pending.split(b"\n", 1)
        return line + b"\n"


def receive(worker: Speaker, timeout_s: float) -> dict[str, Any]:
    """Wait for the answer to a request, following the stages that the worker goes through.

    Raises Ended when the worker dies, reports an end, says nothing for ``timeout_s`` seconds in one stage, or talks
    nonsense.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        line = worker.line(deadline)
        if line is None:
            worker.kill()
            raise Ended(TIMEOUT, worker.stage, f"no answer within {timeout_s:g} s{tail(worker.log)}")
        if not line:
            raise worker.death()
        try:
            message = json.loads(line)
            event = message["event"]
        except (ValueError, TypeError, KeyError):
            worker.kill()
            raise Ended(FAILED, worker.stage, f"the worker sent {line[:80]!r}, which is no message") from None
        if event == "stage":
            worker.stage = str(message["stage"])
            deadline = time.monotonic() + timeout_s
        elif event == "ended":
            worker.close()
            raise Ended(str(message["status"]), str(message["stage"]), str(message["reason"]))
        elif event != "started":
            return dict(message)


def tail(log: Path) -> str:
    """Return the last lines of a worker's output, for the end of a reason."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return ": " + " | ".join(said[-TAIL_LINES:]) if said else ""
