"""Runs row jobs one after the other in another program. Where its command reaches another machine, they run there.

An example is ``ssh MACHINE python -m bench.host.executors --root FOLDER``. The command lines of a job's environments
must be valid there, as on a file system that both machines have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .events import Emit
from .job import RowJob
from .lanes import Lanes


class ProgramExecutor:
    """Runs jobs in a program that starts with the first one and stays: the rows of a round share what it imports."""

    def __init__(self, command: Sequence[str]) -> None:
        self._program = Lanes([command])

    def run(self, job: RowJob, emit: Emit) -> None:
        """Run a job; raises ExecutorFailed when the program ends without a result."""
        self._program.run(iter([job]), emit)

    def machine(self) -> Mapping[str, Any]:
        """Ask the program for the facts of the machine that its command reaches. Raises ExecutorFailed."""
        return self._program.machine()

    def close(self) -> None:
        """End the program."""
        self._program.close()
