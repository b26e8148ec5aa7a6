"""Represents one worker that was forked from a parent, as a transport like a worker's own process."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.record import FAILED, OUT_OF_MEMORY, OUTSIDE

from . import log_limit
from .protocol import Ended, Lines, receive, tail
from .requests import encode
from .worker_process import end_of, oom_kills

if TYPE_CHECKING:
    from .parent import Parent

#: Seconds in which a parent that is alive stops a worker, or notices its end.
STOPPING_S = 10.0
#: A worker exits within this time after the end of its input, and within the other after it was killed. One that hangs
#: in a driver cannot be killed; the study goes on without waiting for it.
CLOSING_S, KILLING_S = 5.0, 30.0


class ForkedWorker:
    """One worker of a parent; it lives no longer than the parent."""

    #: Its log is limited whenever something is written to it.
    limits_log = True
    has_init = False

    def __init__(self, parent: Parent, number: int, log: Path) -> None:
        self.stage = "start"
        self.log = log
        #: Its process where the parent runs, once it was forked.
        self.inner_process: int | None = None
        #: Negative for a signal; None while it lives.
        self.exit_code: int | None = None
        #: Pauses that were asked for, and those of which the parent told; it may tell of one after it was called off.
        self._pauses_asked = self._pauses_told = 0
        self._resumed = True
        self._input_ended = False
        #: How many processes were stopped with it last; None before.
        self.others: int | None = None
        self._process_id: int | None = None
        self._parent = parent
        self._number = number
        self._said: deque[bytes] = deque()
        self._lines = Lines(self._read)
        self._oom_kills = oom_kills()
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log_limit.opened(log)

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
        self._parent.write(self._number, encode(request))

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the answer to a request. Raises Ended."""
        try:
            answer = receive(self, timeout_s)
        except Ended as ended:
            # To a worker, a process that the kernel killed, such as a compiler, looks like any other failure.
            if ended.status == FAILED and self._parent.lost_a_process(self._oom_kills):
                raise Ended(OUT_OF_MEMORY, ended.stage, f"killed for lack of memory: {ended.reason}") from None
            raise
        if answer["event"] == "imported":
            answer["versions"] = {**self._parent.versions, **answer["versions"]}
        elif answer["event"] == "finished" and self._parent.lost_a_process(self._oom_kills):
            self.close()
            raise Ended(OUT_OF_MEMORY, self.stage, "a child process was killed by the kernel for lack of memory")
        return answer

    def line(self, deadline: float) -> bytes | None:
        """Read one line; None at the deadline, b"" at the end."""
        return self._lines.next(deadline)

    def _read(self, left_s: float) -> bytes | None:
        deadline, in_time = time.monotonic() + left_s, True
        while not self._said:
            if self._is_over():
                return b""
            if not in_time:
                return None
            left = deadline - time.monotonic()
            in_time = self._parent.receive(left) and left > 0
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
            log_limit.limit(self.log)

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
        if self.inner_process is None or ended.stage == OUTSIDE:
            return Ended(ended.status, ended.stage, ended.reason)
        reason = f"the process that it was forked from ended: {ended.reason}"
        return Ended(ended.status, self.stage, reason)

    def pause(self) -> None:
        """Stop the process and those that it started; return when they are stopped."""
        if not self._is_over():
            self._resumed = False
            self._pauses_asked += 1
            self._parent.request(do="pause", worker=self._number)
            self._parent.wait_for(lambda: self._pauses_told == self._pauses_asked or self._is_over(), STOPPING_S)

    def note_pause(self, others: int) -> None:
        """Note that the parent has stopped it, and so many processes below it."""
        self._pauses_told += 1
        self.others = int(others)

    def resume(self) -> None:
        """Let it go on, also where a pause that was asked for comes later than it was waited for."""
        if not self._resumed:
            self._resumed = True
            self._parent.request(do="resume", worker=self._number)

    def end_input(self) -> None:
        """Close its input, at which it ends; ``close`` waits for that."""
        if not self._input_ended and not self._is_over():
            self._input_ended = True
            self.resume()
            self._parent.request(do="end", worker=self._number)

    def close(self) -> None:
        """Close its input, wait some seconds for it to end, and kill it if it does not."""
        self.end_input()
        if not self._is_over():
            self._parent.wait_for(self._is_over, CLOSING_S)
        self.kill()

    def kill(self) -> None:
        """Kill the process and those that it started."""
        if self._is_over():
            return
        self._parent.request(do="kill", worker=self._number)
        if not self._parent.wait_for(self._is_over, KILLING_S):
            self._parent.kill(Ended(FAILED, self.stage, "it did not kill a worker"))
