"""Runs row jobs one after the other in another program. Where its command reaches another machine, they run there.

An example is ``ssh MACHINE python -m bench.host.executors --root FOLDER``. The command lines of a job's environments
must be valid there, as on a file system that both machines have.
"""

from __future__ import annotations

from collections.abc import Sequence

from .events import Emit
from .job import RowJob
from .lanes import Lanes
from .program import ExecutorFailed
from .row_measurement import Cancelled


class ProgramExecutor:
    """Runs jobs in a program that starts with the first one and stays: the rows of a round share what it imports."""

    def __init__(self, command: Sequence[str]) -> None:
        self._program = Lanes([command])
        self._cancelled = False

    def run(self, job: RowJob, emit: Emit) -> None:
        """Run a job; raises Cancelled after ``cancel``, and ExecutorFailed when the program ends without a result."""
        if self._cancelled:
            raise Cancelled("the row job was cancelled before it began")
        try:
            self._program.run(iter([job]), emit)
        except ExecutorFailed:
            if not self._cancelled:
                raise
        if self._cancelled:
            raise Cancelled("the row job was cancelled")

    def cancel(self) -> None:
        """Interrupt the program, which ends the job at once."""
        self._cancelled = True
        self._program.interrupt()

    def close(self) -> None:
        """End the program."""
        self._program.close()
