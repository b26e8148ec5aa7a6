"""Runs row jobs in another process: a program that reads jobs as lines of JSON and writes their events as such lines.

``python -m bench.host.executors`` is that program.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from ..refusal import Refused, describe, exhausted
from ..storage.lines import parsed
from . import events
from .events import Emit, Event, Waited
from .job import RowJob

#: Seconds in which a program without a job ends.
CLOSING_S = 30.0


class ExecutorFailed(Refused):
    """The program ended before its jobs were done, or did not start; the message says how."""


class Program:
    """One program, which takes job after job; its standard error is that of this process."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it in a session of its own: Ctrl-C reaches this process alone, which passes it on.

        Raises ExecutorFailed where it does not start.
        """
        self._command = command
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise ExecutorFailed(exhausted(error) or describe(error, command[0])) from None
        self._job: RowJob | None = None
        self._pending = b""

    @property
    def output(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def take(self, job: RowJob | None) -> bool:
        """Begin a job; return False where there is none."""
        self._job = job
        if job is not None:
            self._write(job.to_json())
        return job is not None

    def machine(self) -> Mapping[str, Any]:
        """Ask for the facts of its machine, while it has no job. Raises ExecutorFailed where no answer comes."""
        self._write(events.ASKED)
        told: list[Event] = []
        while not told:
            self.read(told.append)
        if not isinstance(told[0], events.Described):
            raise ExecutorFailed(f"the program was asked for its machine and sent {told[0]!r:.80}")
        return told[0].machine

    def _write(self, values: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        # A program that has ended does not read: the end of its output says so.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(values).encode() + b"\n")
            self._process.stdin.flush()

    def read(self, emit: Emit) -> RowJob | None:
        """Wait for a piece of its output and pass the events on; return the job if it is over.

        Where ``emit`` raised, the next call begins with the events after that one, and waits for nothing. Raises
        ExecutorFailed at the end of the output.
        """
        if b"\n" not in self._pending:
            piece = os.read(self.output, 1 << 16)
            if not piece:
                code = self._process.wait()
                raise ExecutorFailed(f"{self._command[0]} ended with exit code {code} before its jobs were done")
            self._pending += piece
        over = None
        while b"\n" in self._pending:
            # Before it is passed on: twice told, the samples of a turn would count twice.
            line, _, self._pending = self._pending.partition(b"\n")
            event = _event_of(line)
            emit(event)
            # The last event of each job.
            over = self._job if isinstance(event, Waited) else over
        return over

    def interrupt(self) -> None:
        """Let it end, after the events of what was measured."""
        # Not SIGINT: a run that a shell has put into the background ignores it, and so does a lane until it has begun.
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()

    def end_input(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()

    def close(self) -> None:
        """Wait for its end, and kill it where it does not come."""
        self.end_input()
        try:
            self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


def _event_of(line: bytes) -> Event:
    """Read a line of a program. Raises ExecutorFailed for one that is no event."""
    try:
        return events.from_json(parsed(line))
    except ValueError as error:
        raise ExecutorFailed(f"the program sent {line[:80]!r}, which is not an event: {error}") from None
