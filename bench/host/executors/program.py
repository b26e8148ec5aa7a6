"""Runs row jobs in another process: a program that reads a job as JSON and writes its events as lines of JSON.

``python -m bench.host.executors`` is that program. Where a command reaches another machine, as ssh does, the job runs
there.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from ..refusal import Refused, describe, exhausted
from ..storage.lines import parsed
from . import events
from .events import Emit, Event
from .job import RowJob
from .row_measurement import Cancelled

#: Exit codes of the program: done, not a job or not possible, interrupted.
EXIT_DONE, EXIT_MISUSE, EXIT_INTERRUPTED = 0, 2, 130


class ExecutorFailed(Refused):
    """The program ended before the job did, or did not start; the message says how."""


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own: Ctrl-C reaches this process alone, which passes it on.

    Raises ExecutorFailed where it does not start.
    """
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    except OSError as error:
        raise ExecutorFailed(exhausted(error) or describe(error, command[0])) from None


class ProgramExecutor:
    """Starts a program for each job; its standard error is that of this process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    def run(self, job: RowJob, emit: Emit) -> None:
        """Run a job; raises Cancelled after ``cancel``, and ExecutorFailed when the program ends without a result."""
        if self._cancelled:
            raise Cancelled("the row job was cancelled before it began")
        with start(self._command) as process:
            self._process = process
            try:
                self._talk(process, job, emit)
            except KeyboardInterrupt:
                # What the program measured before the interrupt is still to come.
                process.terminate()
                try:
                    _read(process, emit)
                except BaseException:
                    process.kill()
                    raise
                raise
            except BaseException:
                process.terminate()
                raise
        if self._cancelled:
            raise Cancelled("the row job was cancelled")
        if process.returncode != EXIT_DONE:
            raise ExecutorFailed(
                f"{self._command[0]} ended with exit code {process.returncode} before the job was done"
            )

    def close(self) -> None:
        """Return at once: each job has a program of its own, which ends with it."""

    def cancel(self) -> None:
        """Interrupt the program, which ends the job at once."""
        self._cancelled = True
        if self._process is not None:
            self._process.terminate()

    @staticmethod
    def _talk(process: subprocess.Popen[bytes], job: RowJob, emit: Emit) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(job.to_json()).encode() + b"\n")
            process.stdin.close()
        except BrokenPipeError:
            # Its exit code says what is wrong.
            return
        _read(process, emit)


def _read(process: subprocess.Popen[bytes], emit: Emit) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        try:
            event = event_of(line)
        except ExecutorFailed:
            process.kill()
            raise
        emit(event)


def event_of(line: bytes) -> Event:
    """Read a line of the program. Raises ExecutorFailed for one that is no event."""
    try:
        return events.from_json(parsed(line))
    except ValueError as error:
        raise ExecutorFailed(f"the program sent {line[:80]!r}, which is not an event: {error}") from None
